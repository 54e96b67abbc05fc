/**
 * What an overview needs, from one look at the database that all who ask share for 5 seconds. When the
 * database doesn't answer in time, the last values stay, with their age.
 */

import type { Transaction } from 'kysely'
import { createPostgresStorage, type QueueStatus, type Totals } from '../../chokaq/index.js'
import { AppError } from '../../errors.js'
import { listRuns } from '../../operations/list-runs.js'
import type { Database } from '../../postgres/schema.js'
import { createCachedLook } from '../../telemetry/cached-look.js'
import { limitLook, readDatabaseValues } from '../../telemetry/database-values.js'
import type { ApiContext } from './context.js'
import { readOnly } from './read-only.js'
import type { Summary } from './schemas/action-answers.js'

/** As the gauges: several pages and scripts share one look. */
const freshForMs = 5_000
/** Who looks at an overview while the database is away wants the last values, soon. */
const limitMs = 3_000
/** Of each count, which takes milliseconds: below what its askers wait for. */
const statementTimeoutMs = 2_000

type Seen = Omit<Summary, 'ageSeconds' | 'isCurrent'>

/**
 * The returned function gives the newest values there are.
 *
 * @throws AppError DATABASE_UNAVAILABLE where there are none yet
 */
export function createSummaryLook(
  context: Pick<ApiContext, 'db' | 'config' | 'now'>,
): () => Promise<Summary> {
  const { db, now } = context
  let last: { readonly seen: Seen; readonly at: number } | undefined
  const look = createCachedLook({
    freshForMs,
    limitMs,
    now,
    look: async () => {
      last = { seen: await readOnly(db, (trx) => readSummary(trx, context)), at: now() }
    },
  })
  return async () => {
    const { state } = await look()
    if (last === undefined) {
      throw new AppError('DATABASE_UNAVAILABLE', 'The database has not answered yet. See /readyz.')
    }
    const ageSeconds = Math.max(0, now() - last.at) / 1_000
    return { ageSeconds, isCurrent: state === 'seen', ...last.seen }
  }
}

async function readSummary(
  trx: Transaction<Database>,
  { config }: Pick<ApiContext, 'config'>,
): Promise<Seen> {
  const { retry, outbox } = config
  const runs = await listRuns(trx, { limit: 1 })
  const storage = createPostgresStorage({ db: trx })
  const jobs = jobCounts(await storage.listQueues(), await storage.totals())
  // Last, for it holds the rest of the transaction to indexes.
  await limitLook(trx, statementTimeoutMs)
  const values = await readDatabaseValues(trx, retry, outbox.relay)
  return {
    provisions: {
      backlog: values.failed,
      failed: values.failed - values.stuck,
      stuck: values.stuck,
      poison: values.poison,
      oldestAgeSeconds: values.oldestAgeSeconds,
    },
    outbox: {
      relay: outbox.relay,
      backlog: values.outbox?.backlog ?? null,
      publishLagSeconds: values.outbox?.publishLagSeconds ?? null,
      parked: values.outboxParked,
      slotLagBytes: values.slot?.lagBytes ?? null,
    },
    intake: { parked: values.intakeParked },
    lastRun: runs.items[0] ?? null,
    jobs,
  }
}

function jobCounts(queues: readonly QueueStatus[], totals: readonly Totals[]): Seen['jobs'] {
  const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
    items.reduce((total, item) => total + of(item), 0)
  return {
    due: sum(queues, ({ due }) => due),
    scheduled: sum(queues, ({ scheduled }) => scheduled),
    running: sum(queues, ({ fetched, processing }) => fetched + processing),
    dead: sum(queues, ({ dead }) => dead),
    lagSeconds: Math.max(0, ...queues.map(({ lagSeconds }) => lagSeconds)),
    queuesPaused: queues.filter(({ settings }) => settings.paused).length,
    succeeded: sum(totals, ({ succeeded }) => succeeded),
    failed: sum(totals, ({ failed }) => failed),
    retried: sum(totals, ({ retried }) => retried),
  }
}
