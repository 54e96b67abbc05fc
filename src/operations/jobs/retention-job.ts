/**
 * `retention.v1`: deletes the records of old cycles and failed attempts, requests that nobody sends again, and
 * the events that were settled long ago, in small batches. Once per day among all instances: the job's key is
 * the day, by the database's clock.
 */

import { sql, type Kysely } from 'kysely'
import { z } from 'zod'
import {
  archiveMarkers,
  type JobQueue,
  type JobRegistry,
  type JobStorage,
} from '../../chokaq/index.js'
import type { Config } from '../../config/config.js'
import { deleteSettledEvents, retentionBatchRows } from '../../outbox/retention.js'
import type { Database } from '../../postgres/schema.js'
import { pruneAttempts } from '../../provisioning/failed-attempts.js'
import { pruneRuns } from '../../provisioning/run-ledger.js'
import { pruneRequests } from '../once.js'

export const retentionJob = 'retention.v1'

/** Of the service's own upkeep. */
export const maintenanceQueue = 'maintenance'

/** Which part is done; a further run goes on with the rest. */
const checkpoint = z.strictObject({
  runs: z.number(),
  attempts: z.number().optional(),
  events: z.number().optional(),
})

export function defineRetentionJob(
  registry: JobRegistry,
  { db, config }: { readonly db: Kysely<Database>; readonly config: Config },
): void {
  registry.defineJob(
    retentionJob,
    z.strictObject({}),
    async (job) => {
      const done = checkpoint.safeParse(job.checkpoint).data
      const runs = done?.runs ?? (await pruneRuns(db, config.retry.runsRetentionMs))
      await pruneRequests(db)
      await job.saveCheckpoint({ runs })
      const attempts =
        done?.attempts ?? (await pruneAttempts(db, config.retry.runsRetentionMs, job.signal))
      await job.saveCheckpoint({ runs, attempts })
      // Where Debezium relays, only what its slot has confirmed may go: a loop of its own sees to it.
      const events = config.outbox.relay === 'off' ? 0 : await pruneEvents(db, config, job.signal)
      await job.saveCheckpoint({ runs, attempts, events })
      job.log.info({ event: 'retention done', runs, attempts, events }, 'retention done')
    },
    { queue: maintenanceQueue, priority: 0 },
  )
}

async function pruneEvents(
  db: Kysely<Database>,
  config: Config,
  signal: AbortSignal,
): Promise<number> {
  for (let total = 0; ;) {
    signal.throwIfAborted()
    const deleted = await deleteSettledEvents(db, config.outbox.retentionMs)
    total += deleted
    if (deleted < retentionBatchRows) return total
  }
}

/** Each instance asks this often whether the day's job is there; the first one makes it. */
export const retentionAskIntervalMs = 15 * 60_000

/**
 * Makes the day's job, unless it is there, live, done or dead: a dead one waits for a person, and the
 * next day has a job of its own.
 */
export async function enqueueDailyRetention(
  db: Kysely<Database>,
  queue: JobQueue,
  storage: Pick<JobStorage, 'findSucceeded' | 'listJobs'>,
): Promise<void> {
  const { rows } = await sql<{ day: string }>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD') as day
  `.execute(db)
  const idempotencyKey = `${retentionJob}:${rows[0]?.day ?? ''}`
  if (await archiveMarkers(storage).has(retentionJob, idempotencyKey)) return
  const filter = { type: retentionJob, idempotencyKey }
  const dead = await storage.listJobs({ place: 'dlq', filter, limit: 1 })
  if (dead.items.length > 0) return
  await queue.enqueue(retentionJob, {}, { idempotencyKey, createdBy: 'schedule' })
}
