/** The local servers of the demo and the tests: start, outage, crash, freeze, and no orphans. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/demo/servers/embedded-postgres.js'
import { waitFor } from '../support/wait-for.js'

let postgres: EmbeddedPostgres

beforeAll(async () => {
  postgres = await startEmbeddedPostgres()
  await query('create table kept (n int)')
})

afterAll(() => postgres.stop())

async function query(text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: postgres.url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a restart keeps the port and the data, under another pid', async () => {
  await query('insert into kept values (1)')
  const before = postgres.pid
  await postgres.restart()
  expect(postgres.pid).not.toBe(before)
  expect((await query('select n from kept')).rowCount).toBe(1)
})

test('while it is shut down nothing answers, and start() ends the outage', async () => {
  await postgres.shutDown()
  await expect(query('select 1')).rejects.toThrow('ECONNREFUSED')
  expect(() => postgres.pid).toThrow('not running')
  await postgres.start()
  await postgres.start()
  expect((await query('select n from kept')).rowCount).toBe(1)
})

test('after a kill it recovers on the same data', async () => {
  await query('insert into kept values (2)')
  await postgres.kill()
  await postgres.start()
  expect((await query('select n from kept')).rowCount).toBe(2)
})

test('frozen by SIGSTOP it accepts and never answers; SIGCONT ends that', async () => {
  process.kill(postgres.pid, 'SIGSTOP')
  await expect(query('select 1')).rejects.toThrow('timeout')
  process.kill(postgres.pid, 'SIGCONT')
  expect((await query('select n from kept')).rowCount).toBe(2)
})

test('a frozen server still stops', async () => {
  const frozen = await startEmbeddedPostgres()
  process.kill(frozen.pid, 'SIGSTOP')
  await frozen.stop()
  await frozen.stop()
  expect(existsSync(frozen.dataDir)).toBe(false)
})

test('a killed parent leaves neither a server nor its data behind', async () => {
  const program = `
    const { startEmbeddedPostgres } = await import('./dist/demo/servers/embedded-postgres.js')
    const { pid, dataDir } = await startEmbeddedPostgres()
    process.stdout.write(JSON.stringify({ pid, dataDir }) + '\\n')
  `
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: new URL('../../', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: parent.stdout })
  const line = await new Promise<string>((resolve) => lines.once('line', resolve))
  const { pid, dataDir } = JSON.parse(line) as { pid: number; dataDir: string }
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await waitFor('the orphaned server to be gone', () => !isAlive(pid) && !existsSync(dataDir))
})
