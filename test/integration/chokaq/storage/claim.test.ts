/** The claim in PostgreSQL: what it locks, what it refuses, and what it does not look at. */

import { sql, type Transaction } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import type { Database } from '../../../../src/postgres/schema.js'
import { put, usePostgresStorage } from './storages.js'

const by = { by: 'ops' }

async function fetchIds(storage: JobStorage): Promise<string[]> {
  const jobs = await storage.fetch({ owner: 'worker-1', limit: 10 })
  return jobs.map(({ lease }) => lease.jobId)
}

describe('the claim in PostgreSQL', () => {
  const postgres = usePostgresStorage()

  test('a queue whose row a forgotten transaction holds keeps nobody else waiting', async () => {
    const { storage, db } = postgres()
    await storage.changeQueue('held', { maxWorkers: 5 }, by)
    await put(storage, { queue: 'held' })
    const free = await put(storage, { queue: 'free' })
    const trx = await db.startTransaction().execute()
    await sql`select from chokaq.queues where name = 'held' for update`.execute(trx)
    expect(await fetchIds(storage)).toEqual([free])
    await trx.rollback().execute()
    expect(await fetchIds(storage)).toHaveLength(1)
  })

  test('refuses an isolation level under which it could exceed MaxWorkers', async () => {
    const { db } = postgres()
    const attempt = db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((trx) => claim(trx, 1))
    await expect(attempt).rejects.toMatchObject({
      message: expect.stringContaining('read committed') as string,
    })
  })

  test('walks over no future job, however high', async () => {
    const { storage, database, db } = postgres()
    await database.query(`
      insert into chokaq.jobs_hot (id, queue, type, payload, priority, scheduled_at)
      select lpad(n::text, 26, '0'), 'q', 't', '1', 100, now() + interval '1 day'
      from generate_series(1, 20000) n`)
    await database.query('analyze chokaq.jobs_hot')
    const due = await put(storage, { priority: 0 })
    const { claimed, read } = await db.transaction().execute(async (trx) => ({
      claimed: await claim(trx, 20),
      read: await rowsRead(trx),
    }))
    expect(claimed).toEqual([due])
    expect(read).toBeLessThan(100)
  })
})

async function claim(trx: Transaction<Database>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from chokaq.fetch_jobs('worker-1', ${limit}, null)
  `.execute(trx)
  return rows.map(({ id }) => id)
}

/** Rows of the hot table that this transaction's statements have looked at. */
async function rowsRead(trx: Transaction<Database>): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
    where schemaname = 'chokaq' and relname = 'jobs_hot'
  `.execute(trx)
  return rows[0]?.read ?? NaN
}
