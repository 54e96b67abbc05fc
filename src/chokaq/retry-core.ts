/** The whole core in one piece: who enqueues, who works, who keeps it in order, and who operates it. */

import { createJobQueue, type JobQueue } from './enqueue/job-queue.js'
import { createCoreEvents } from './events/core-events.js'
import { checkZombieTimeout } from './jobs/check-queue.js'
import type { Random } from './kernel/backoff.js'
import type { Middleware } from './middleware/middleware.js'
import { createJobOperator, type JobOperator } from './operator/job-operator.js'
import type { CoreEvents, CoreLog, CoreMetrics, MonotonicClock } from './ports.js'
import type { JobRegistry } from './registry/job-registry.js'
import type { JobStorage } from './storage/job-storage.js'
import type { QueueChanges } from './storage/operator-port.js'
import { createRescuePass, rescueIntervalMs } from './upkeep/rescue-pass.js'
import { createRetentionPass, retentionIntervalMs } from './upkeep/retention-pass.js'
import { createUpkeepLoop } from './upkeep/upkeep-loop.js'
import { within } from './worker/waiting.js'
import { createWorker, type Worker } from './worker/worker.js'
import type { WorkerOptions } from './worker/worker-options.js'

export interface RetryCoreOptions extends WorkerOptions {
  /** A job fetched and not started for so long goes back. */
  readonly fetchedTimeoutMs: number
  /** Succeeded jobs are kept so long. */
  readonly archiveMs: number
  /** First values; queues that have a row already keep theirs. */
  readonly queueSettings?:
    readonly { readonly name: string; readonly settings: QueueChanges }[] | undefined
}

export interface RetryCoreDependencies<Trx> {
  readonly storage: JobStorage<Trx>
  readonly registry: JobRegistry
  readonly middleware?: readonly Middleware[]
  readonly log: CoreLog
  readonly metrics?: CoreMetrics
  /** As Math.random, where nothing is said. */
  readonly random?: Random
  /** As performance.now, where nothing is said. */
  readonly now?: MonotonicClock
}

export interface RetryCore<Trx = never> {
  readonly queue: JobQueue<Trx>
  readonly operator: JobOperator
  readonly events: CoreEvents
  readonly worker: Worker
  /** Waits for nothing: a storage that is away is waited for by the loops. */
  start(): void
  /** Within the grace, whatever hangs. Afterwards the storage may be closed. */
  stop(graceMs: number): Promise<void>
}

const nothing = (): void => undefined
const uncounted: CoreMetrics = {
  enqueued: nothing,
  succeeded: nothing,
  failed: nothing,
  retried: nothing,
  stateConflict: nothing,
}

/** @throws ChokaqError QUEUE_LIMIT_INVALID where a queue's zombie timeout is below the heartbeats */
export function createRetryCore<Trx = never>(
  options: RetryCoreOptions,
  deps: RetryCoreDependencies<Trx>,
): RetryCore<Trx> {
  const { storage, registry, middleware, log } = deps
  const { metrics = uncounted, random = Math.random, now = () => performance.now() } = deps
  const { heartbeatMaxMs } = options
  for (const { settings } of options.queueSettings ?? []) {
    checkZombieTimeout(settings, heartbeatMaxMs)
  }
  const events = createCoreEvents(log)
  const parts = { storage, registry, middleware, metrics, events, log, random, now }
  const worker = createWorker(options, parts)
  const wake = (): void => worker.wake()
  const cancelRequested = (jobId: string): void => worker.cancelRequested(jobId)

  const rescuePass = createRescuePass(options, { storage, metrics, events, log, wake })
  let seeded = false
  const rescue = createUpkeepLoop({
    name: 'rescue',
    intervalMs: rescueIntervalMs(options),
    async pass(signal) {
      if (!seeded) await storage.seedQueues(options.queueSettings ?? [])
      seeded = true
      await rescuePass(signal)
    },
    log,
    now,
  })
  const retention = createUpkeepLoop({
    name: 'retention',
    intervalMs: retentionIntervalMs,
    pass: createRetentionPass(options, storage),
    log,
    now,
  })

  return {
    queue: createJobQueue({ storage, registry, metrics, events, wake }),
    operator: createJobOperator({
      ...{ storage, metrics, events, wake, cancelRequested, heartbeatMaxMs },
    }),
    events,
    worker,
    start() {
      rescue.start()
      retention.start()
      worker.start()
    },
    async stop(graceMs) {
      const upkeepEnded = Promise.all([rescue.stop(), retention.stop()])
      await Promise.all([worker.stop(graceMs), within(upkeepEnded, graceMs)])
    },
  }
}
