/** Standard output that can't be written: a reader that has gone away, a disk that is full. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const cliPath = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

beforeEach(() => seedDeal(database().admin))

interface Ended {
  readonly exitCode: number | null
  readonly stderr: string
}

async function run(
  args: readonly string[],
  stdout: number | 'pipe',
  relay: 'stdout' | 'off',
): Promise<Ended> {
  const child = spawn(process.execPath, [cliPath, ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: database().url, OUTBOX_RELAY: relay },
    stdio: ['ignore', stdout, 'pipe'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // The reader is gone before the first byte.
  child.stdout?.destroy()
  await once(child, 'close')
  return { exitCode: child.exitCode, stderr }
}

describe('a reader that has gone away', () => {
  it('has seen enough of a list', async () => {
    expect(await run(['provisions', 'list', '--json'], 'pipe', 'off')).toEqual({
      exitCode: 0,
      stderr: '',
    })
  })

  it('leaves events unpublished, which run-once does not call a success', async () => {
    const { exitCode, stderr } = await run(['run-once', '--json'], 'pipe', 'stdout')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('EPIPE')
    const [left] = await database().query(
      'select count(*)::int as n, count(published_at)::int as published from messenger.outbox_events',
    )
    expect(left).toEqual({ n: expect.any(Number) as number, published: 0 })
  })
})

describe.skipIf(!existsSync('/dev/full'))('a disk that is full', () => {
  it.each([[['provisions', 'list', '--json']], [['run-once', '--json']]])(
    '%s says so in one line',
    async (args) => {
      const full = openSync('/dev/full', 'w')
      const { exitCode, stderr } = await run(args, full, 'off')
      closeSync(full)
      expect(exitCode).toBe(1)
      const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
      expect(said).toEqual([
        'error: standard output can not be written (ENOSPC). What the command has done stands.',
      ])
    },
  )
})
