/** A migration may take long, be it to build an index or to wait for another migrator: it is not given up. */

import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCli } from '../support/cli.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

/** Longer than any other statement of the service is waited for. */
const longSeconds = 26

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase({ empty: true })
})
afterEach(async () => {
  await database.close()
  await database.drop()
})

async function hasWaitedLong(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event = 'advisory'
      and query_start < clock_timestamp() - ${longSeconds} * interval '1 second'
  `.execute(database.admin)
  return rows.length > 0
}

test('a migrator waits for another one as long as that takes', async () => {
  const other = await database.admin.startTransaction().execute()
  await sql`
    select pg_advisory_xact_lock(hashtext('chat-provision-retry'), hashtext('migrate'))
  `.execute(other)
  const waiting = runCli(['migrate', 'up'], { DATABASE_URL: database.adminUrl })
  try {
    const ended = waiting.then(({ stderr }) => stderr)
    const looked = waitFor('the migrator has waited long', hasWaitedLong, { timeoutMs: 90_000 })
    await expect(Promise.race([ended, looked])).resolves.toBe(true)
  } finally {
    await other.rollback().execute()
  }
  const { exitCode, stdout, stderr } = await waiting
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain('0001')
})
