/** Both storages under one suite, each test on an empty one, with a clock that can be moved on. */

import { sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import type { FetchedJob, JobRecord, Lease, NewJob } from '../../../../src/chokaq/jobs/job.js'
import type { Place } from '../../../../src/chokaq/kernel/job-state.js'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import { createMemoryStorage } from '../../../../src/chokaq/storage/memory/memory-storage.js'
import { createPostgresStorage } from '../../../../src/chokaq/storage/postgres/postgres-storage.js'
import { createDatabase } from '../../../../src/postgres/connect.js'
import type { Database } from '../../../../src/postgres/schema.js'
import { useTestDatabase, type TestDatabase } from '../../../support/test-database.js'

export interface Subject {
  readonly storage: JobStorage
  /** Lets that much time pass for everything that is stored. */
  readonly advance: (ms: number) => Promise<void>
}

/** Runs the suite on memory and on PostgreSQL; `get` gives the storage inside tests. */
export function describeStorages(what: string, suite: (get: () => Subject) => void): void {
  describe(`${what}, in memory`, () => {
    let subject: Subject
    beforeEach(() => {
      let nowMs = 1_800_000_000_000
      subject = {
        storage: createMemoryStorage({ now: () => nowMs, capacity: 10_000 }),
        advance: (ms) => {
          nowMs += ms
          return Promise.resolve()
        },
      }
    })
    suite(() => subject)
  })
  describe(`${what}, in PostgreSQL`, () => {
    const postgres = usePostgresStorage()
    suite(() => ({ storage: postgres().storage, advance: postgres().advance }))
  })
}

export interface PostgresSubject {
  readonly database: TestDatabase
  readonly storage: ReturnType<typeof createPostgresStorage>
  readonly db: ReturnType<typeof createDatabase>
  readonly advance: (ms: number) => Promise<void>
  readonly empty: () => Promise<void>
}

/** The worker's own rights, on a database of the file's own, emptied before each test. */
export function usePostgresStorage(): () => PostgresSubject {
  const database = useTestDatabase()
  let db: ReturnType<typeof createDatabase>
  beforeAll(() => {
    db = createDatabase({
      connectionString: database().url,
      applicationName: 'chokaq-test',
      max: 8,
      onConnectionLost: () => undefined,
    })
  })
  afterAll(() => db.destroy())
  const empty = async (): Promise<void> => {
    await sql`truncate chokaq.jobs_hot, chokaq.jobs_archive, chokaq.jobs_dlq, chokaq.queues,
      chokaq.metric_buckets, chokaq.stats_summary`.execute(database().admin)
  }
  beforeEach(empty)
  return () => ({
    database: database(),
    storage: createPostgresStorage({ db }),
    db,
    advance: (ms) => moveBack(database(), ms),
    empty,
  })
}

/** The database's clock can't be moved, so all that is written moves into the past instead. */
async function moveBack(database: TestDatabase, ms: number): Promise<void> {
  const by = sql`${ms}::float8 * interval '1 millisecond'`
  await sql`
    with hot as (
      update chokaq.jobs_hot set scheduled_at = scheduled_at - ${by},
        heartbeat_at = heartbeat_at - ${by}, started_at = started_at - ${by},
        created_at = created_at - ${by}, enqueued_at = enqueued_at - ${by}
    ),
    archive as (
      update chokaq.jobs_archive set created_at = created_at - ${by},
        started_at = started_at - ${by}, finished_at = finished_at - ${by}
    ),
    dlq as (
      update chokaq.jobs_dlq set created_at = created_at - ${by},
        started_at = started_at - ${by}, finished_at = finished_at - ${by}
    )
    update chokaq.metric_buckets set second = second - ${by}
  `.execute(database.admin)
}

export function newJob(changes: Partial<NewJob> = {}): NewJob {
  return { type: 'test.noop.v1', queue: 'q', payload: '{"n":1}', ...changes }
}

/** Enqueues one and gives its id. */
export async function put(storage: JobStorage, changes: Partial<NewJob> = {}): Promise<string> {
  return single(await storage.enqueue([newJob(changes)])).id
}

export async function fetchOne(storage: JobStorage, owner = 'worker-1'): Promise<FetchedJob> {
  return single(await storage.fetch({ owner, limit: 1 }))
}

/** A new job that runs; its lease. */
export async function putRunning(
  storage: JobStorage,
  changes: Partial<NewJob> = {},
  owner = 'worker-1',
): Promise<Lease> {
  const id = await put(storage, { priority: 100, ...changes })
  const { lease } = await fetchOne(storage, owner)
  if (lease.jobId !== id) throw new Error('another job was in front')
  const started = single(await storage.start([lease]))
  if (started.outcome !== 'started') throw new Error(`not started: ${started.outcome}`)
  return lease
}

/** The job as it is now; fails where there is none. */
export async function look(storage: JobStorage, id: string): Promise<JobRecord> {
  const job = await storage.findJob(id)
  if (job === undefined) throw new Error(`there is no job ${id}`)
  return job
}

export async function idsIn(storage: JobStorage, place: Place): Promise<string[]> {
  const { items } = await storage.listJobs({ place, limit: 500 })
  return items.map(({ id }) => id).sort()
}

/** The only element; fails where there are none or more. */
export function single<T>(items: readonly T[]): T {
  const [first] = items
  if (first === undefined || items.length !== 1) {
    throw new Error(`${items.length} elements where one was expected`)
  }
  return first
}

export interface TableWork {
  /** Rows looked at. */
  readonly read: number
  readonly updated: number
  /** Of the updated ones, those that wrote no index. */
  readonly heapOnly: number
}

/** What `work` does to a table of schema chokaq, and its result. */
export async function workOn<T>(
  trx: Transaction<Database>,
  table: string,
  work: () => Promise<T>,
): Promise<TableWork & { readonly result: T }> {
  const before = await tableWork(trx, table)
  const result = await work()
  const after = await tableWork(trx, table)
  return {
    result,
    read: after.read - before.read,
    updated: after.updated - before.updated,
    heapOnly: after.heapOnly - before.heapOnly,
  }
}

/** Of this transaction, and of earlier ones of its session that the server has not added up yet. */
async function tableWork(trx: Transaction<Database>, table: string): Promise<TableWork> {
  const { rows } = await sql<TableWork>`
    select (seq_tup_read + idx_tup_fetch)::integer as read, n_tup_upd::integer as updated,
      n_tup_hot_upd::integer as "heapOnly"
    from pg_stat_xact_user_tables where schemaname = 'chokaq' and relname = ${table}
  `.execute(trx)
  return single(rows)
}
