/** `doctor` from outside: its table, its JSON and its exit codes. */

import { expect, it } from 'vitest'
import { runCli, type CliResult } from '../support/cli.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()

function doctor(environment: Record<string, string> = {}, ...flags: string[]): Promise<CliResult> {
  return runCli(['doctor', ...flags], {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'stdout',
    ...environment,
  })
}

it('in good order: a table within 80 columns, exit 0, nothing on stderr', async () => {
  const { exitCode, stdout, stderr } = await doctor()
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(stdout).toMatch(/^database +ok +PostgreSQL /m)
  expect(stdout).toMatch(/^16 in order, 0 to look at, 0 to mend, 2 not looked at$/m)
})

it('--json prints an array, one object for each check', async () => {
  const { exitCode, stdout } = await doctor({}, '--json')
  expect(exitCode).toBe(0)
  const findings = JSON.parse(stdout) as Record<string, unknown>[]
  expect(findings[1]).toMatchObject({ check: 'database', status: 'ok', mend: null })
  expect(findings.every((finding) => Object.keys(finding).length === 4)).toBe(true)
})

it('something to mend: exit 1', async () => {
  const { exitCode, stdout } = await doctor({ DATABASE_URL: 'postgres://x@127.0.0.1:1/pin' })
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/^database +FAILED +.*127\.0\.0\.1:1/m)
})

it('wrong options: exit 2, and the rest is looked at all the same', async () => {
  const { exitCode, stdout } = await doctor({ CHAT_PROVISION_RETRY_CONCURRENCY: '65' })
  expect(exitCode).toBe(2)
  expect(stdout).toContain('CHAT_PROVISION_RETRY_CONCURRENCY')
  expect(stdout).toMatch(/^rows +ok /m)
})
