/** The retry core as this service runs it: on PostgreSQL, with the operator's jobs and its own upkeep. */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import {
  archiveMarkers,
  createJobRegistry,
  createPostgresStorage,
  createRetryCore,
  rememberCompletion,
  type CallersTransaction,
  type JobRegistry,
  type RetryCore,
} from './chokaq/index.js'
import type { Config } from './config/config.js'
import { defineProvisionJobs } from './operations/jobs/provision-jobs.js'
import { defineUndoJob } from './operations/jobs/undo-job.js'
import {
  defineRetentionJob,
  enqueueDailyRetention,
  retentionAskIntervalMs,
} from './operations/jobs/retention-job.js'
import { createOperatorContext } from './operator-context.js'
import { PeriodicTask } from './periodic-task.js'
import { createDatabase } from './postgres/connect.js'
import type { Database } from './postgres/schema.js'
import type { Logger } from './telemetry/logger.js'
import type { Metrics } from './telemetry/metrics.js'
import { createQueueLook } from './telemetry/queue-gauges.js'

const applicationName = 'chat-provision-retry'

/** Claims, starts, heartbeats and outcomes are batched, so a few carry any number of lanes. */
const coreConnections = 3
/** Of the handlers: apart, so that they can never keep a heartbeat waiting. */
const handlerConnections = 4

export interface DurableJobs {
  readonly core: RetryCore<CallersTransaction>
  readonly registry: JobRegistry
  readonly start: () => void
  /** Within the grace, in milliseconds. */
  readonly stop: (graceMs: number) => Promise<void>
  /** Closes the pools; the last thing to do. */
  readonly close: () => Promise<void>
}

/** All kinds of jobs that this service has. @param db for the handlers */
export function defineDurableJobs(
  db: Kysely<Database>,
  config: Config,
  onEventWritten: () => void,
): JobRegistry {
  const registry = createJobRegistry()
  const operator = createOperatorContext(db, config, onEventWritten)
  defineProvisionJobs(registry, operator)
  // Workers hear of a queue that a job changes at their next poll.
  const moves = createPostgresStorage({ db })
  defineUndoJob(registry, { ...operator, relay: config.outbox.relay, moves })
  defineRetentionJob(registry, { db, config })
  return registry
}

export function createDurableJobs({
  config,
  log,
  metrics,
  onEventWritten,
}: {
  readonly config: Config
  readonly log: Logger
  readonly metrics: Metrics
  readonly onEventWritten: () => void
}): DurableJobs {
  const connect = (name: string, max: number, options: { readonly rowWork?: boolean } = {}) =>
    createDatabase({
      connectionString: config.database.url,
      applicationName: `${applicationName} ${name}`,
      max,
      ...options,
      onConnectionLost: (error) =>
        log.debug({ event: 'database connection lost', err: error }, 'database connection lost'),
    })
  // All its statements find jobs by key, a few at a time, again and again.
  const coreDb = connect('jobs', coreConnections, { rowWork: true })
  const db = connect('operations', handlerConnections)
  const storage = createPostgresStorage({ db: coreDb })
  const registry = defineDurableJobs(db, config, onEventWritten)
  for (const { typeKey: type, options } of registry.definitions()) {
    metrics.jobs.expect({ queue: options.queue ?? 'default', type })
  }
  const { queues, retentionMs: archiveMs, ...workerOptions } = config.chokaq
  const core = createRetryCore(
    {
      ...workerOptions,
      owner: `${hostname().slice(0, 64)}:${process.pid}:${randomBytes(4).toString('hex')}`,
      archiveMs,
      queueSettings: queues.map(({ name, ...settings }) => ({ name, settings })),
    },
    {
      storage,
      registry,
      // The day's retention is the one with a key: two instances may both have just asked for it.
      middleware: [rememberCompletion(archiveMarkers(storage))],
      log,
      metrics: metrics.jobs,
    },
  )
  const daily = new PeriodicTask({
    name: 'schedule retention',
    intervalMs: retentionAskIntervalMs,
    run: () => enqueueDailyRetention(db, core.queue, storage),
    log,
  })
  createQueueLook({ storage, metrics, log, now: () => performance.now() })
  metrics.beforeRender(() => {
    metrics.jobs.setCircuits(core.worker.status().circuits)
    return Promise.resolve()
  })

  return {
    core,
    registry,
    start() {
      core.start()
      daily.start()
    },
    async stop(graceMs) {
      await Promise.all([core.stop(graceMs), daily.stop()])
    },
    async close() {
      await Promise.all([coreDb.destroy(), db.destroy()])
    },
  }
}
