/** The claim in PostgreSQL: what it locks, what it refuses, and what it does not look at. */

import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import * as run from '../../../../src/chokaq/storage/postgres/run.js'
import type { Database } from '../../../../src/postgres/schema.js'
import type { TestDatabase } from '../../../support/test-database.js'
import { newJob, put, workOn, usePostgresStorage } from './storages.js'

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

  test.each([
    ['never analyzed', ''],
    ['analyzed', 'analyze chokaq.jobs_hot'],
  ])('walks over no future job, however high, on a table %s', async (_what, analyze) => {
    const { storage, database } = postgres()
    await fill(database, `'q', 't', '1', 100, now() + interval '1 day'`)
    if (analyze !== '') await database.query(analyze)
    const due = await put(storage, { priority: 0 })
    const { claimed, read } = await claimAndCount(20)
    expect(claimed).toEqual([due])
    expect(read).toBeLessThan(50)
  })

  test('a full queue with 20,000 waiting costs no more than one with few', async () => {
    const { storage, database } = postgres()
    await storage.changeQueue('q', { maxWorkers: 10 }, by)
    await fill(database, `'q', 't', '1', n % 3, now()`)
    expect(await storage.fetch({ owner: 'worker-2', limit: 20 })).toHaveLength(10)
    const other = await put(storage, { queue: 'r' })
    const { claimed, read } = await claimAndCount(20)
    expect(claimed).toEqual([other])
    expect(read).toBeLessThan(100)
  })

  test('a claim reads little more than it takes from 20,000', async () => {
    const { database } = postgres()
    await fill(database, `'q', 't', '1', n % 3, now()`)
    const { claimed, read } = await claimAndCount(20)
    expect(claimed).toHaveLength(20)
    expect(read).toBeLessThan(150)
  })

  test('a claim of many queues and priorities looks no further down than it takes from', async () => {
    const { database } = postgres()
    await database.query(`
      insert into chokaq.jobs_hot (id, queue, type, payload, priority)
      select lpad((row_number() over ())::text, 26, '0'), 'q' || q, 't', '1', p
      from generate_series(1, 50) q, generate_series(0, 100) p`)
    const { claimed, read } = await claimAndCount(20)
    expect(claimed).toHaveLength(20)
    // One entry for each queue, of the highest priority only, and what is taken.
    expect(read).toBeLessThan(250)
  })

  test('a start and a heartbeat write no index', async () => {
    const { storage, db } = postgres()
    await storage.enqueue(
      Array.from({ length: 10 }, () => newJob({ idempotencyKey: randomUUID() })),
    )
    const leases = (await storage.fetch({ owner: 'w', limit: 10 })).map(({ lease }) => lease)
    const beats = leases.map((lease) => ({ lease, progress: 7 }))
    const done = await db.transaction().execute((trx) =>
      workOn(trx, 'jobs_hot', async () => {
        await run.start(trx, leases)
        await run.heartbeat(trx, beats)
      }),
    )
    expect(done).toMatchObject({ updated: 20, heapOnly: 20 })
  })

  async function claimAndCount(limit: number): Promise<{ claimed: string[]; read: number }> {
    return postgres()
      .db.transaction()
      .execute(async (trx) => {
        const { result, read } = await workOn(trx, 'jobs_hot', () => claim(trx, limit))
        return { claimed: result, read }
      })
  }
})

/** 20,000 Pending jobs; `columns` may speak of n, their number. */
async function fill(database: TestDatabase, columns: string): Promise<void> {
  await database.query(`
    insert into chokaq.jobs_hot (id, queue, type, payload, priority, scheduled_at)
    select lpad(n::text, 26, '0'), ${columns} from generate_series(1, 20000) n`)
}

async function claim(trx: Transaction<Database>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from chokaq.fetch_jobs('worker-1', ${limit}, null)
  `.execute(trx)
  return rows.map(({ id }) => id)
}
