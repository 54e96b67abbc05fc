/** The whole core in one piece: who enqueues, who works, who keeps it in order, and who operates it. */

import { createJobQueue, type JobQueue } from './enqueue/job-queue.js'
import { createCoreEvents } from './events/core-events.js'
import { checkActor } from './jobs/check-job.js'
import { anyTime, checkBackoff, checkNumbers, someRuns, someTime } from './jobs/check-options.js'
import { checkZombieTimeout } from './jobs/check-queue.js'
import { limits } from './jobs/limits.js'
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

export interface CoreLoop {
  readonly name: string
  /** Milliseconds from one try to the next where all is well. */
  readonly intervalMs: number
  lastTryAgeMs(): number
}

export interface RetryCore<Trx = never> {
  readonly queue: JobQueue<Trx>
  readonly operator: JobOperator<Trx>
  readonly events: CoreEvents
  readonly worker: Worker
  /** All that must keep trying while the core lives, outage or not; for liveness. */
  readonly loops: readonly CoreLoop[]
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

const ranges = {
  pollIntervalMs: someTime,
  batchSize: { min: 1, max: limits.fetchJobs, whole: true },
  concurrency: { min: 0, max: limits.fetchJobs, whole: true },
  maxAttempts: someRuns,
  heartbeatMinMs: someTime,
  heartbeatMaxMs: someTime,
  zombieTimeoutMs: someTime,
  fetchedTimeoutMs: someTime,
  archiveMs: anyTime,
  maxAgeMs: anyTime,
  timeoutMs: someTime,
  abortGraceMs: anyTime,
}
const breakerRanges = { failureThreshold: someRuns, openMs: someTime }

function checkOptions(options: RetryCoreOptions): void {
  checkActor(options.owner)
  checkNumbers(options, ranges)
  checkNumbers(options.breaker ?? {}, breakerRanges)
  checkBackoff(options.backoff)
  const { heartbeatMinMs: min, heartbeatMaxMs, queueSettings = [] } = options
  checkNumbers({ heartbeatMaxMs }, { heartbeatMaxMs: { ...someTime, min } })
  for (const settings of [options, ...queueSettings.map((queue) => queue.settings)]) {
    checkZombieTimeout(settings, heartbeatMaxMs)
  }
}

/**
 * @throws ChokaqError OPTION_INVALID, ACTOR_INVALID (the owner), or QUEUE_LIMIT_INVALID where a zombie
 *   timeout is below the heartbeats
 */
export function createRetryCore<Trx = never>(
  options: RetryCoreOptions,
  deps: RetryCoreDependencies<Trx>,
): RetryCore<Trx> {
  const { storage, registry, middleware, log } = deps
  const { metrics = uncounted, random = Math.random, now = () => performance.now() } = deps
  const { heartbeatMaxMs } = options
  checkOptions(options)
  const events = createCoreEvents(log)
  const parts = { storage, registry, middleware, metrics, events, log, random, now }
  const worker = createWorker(options, parts)
  const wake = (): void => worker.wake()
  const cancelRequested = (jobId: string): void => worker.cancelRequested(jobId)

  const rescuePass = createRescuePass(options, { storage, metrics, events, log, wake })
  let seeded = false
  const rescue = createUpkeepLoop({
    name: 'job rescue',
    intervalMs: rescueIntervalMs(options),
    async pass(signal, tried) {
      if (!seeded) await storage.seedQueues(options.queueSettings ?? [])
      seeded = true
      await rescuePass(signal, tried)
    },
    log,
    now,
  })
  const retention = createUpkeepLoop({
    name: 'job retention',
    intervalMs: retentionIntervalMs,
    pass: createRetentionPass(options, storage),
    log,
    now,
  })

  return {
    queue: createJobQueue({ storage, registry, metrics, events, wake }),
    operator: createJobOperator({
      ...{ storage, registry, heartbeatMaxMs },
      host: { metrics, events, wake, cancelRequested },
    }),
    events,
    worker,
    loops: [
      {
        name: 'jobs',
        intervalMs: options.pollIntervalMs,
        lastTryAgeMs: () => worker.lastTryAgeMs(),
      },
      rescue,
      retention,
    ],
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
