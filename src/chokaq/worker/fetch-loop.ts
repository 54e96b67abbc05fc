/**
 * Looks for jobs: at once when woken, else at every poll, and as long as there are more. A storage that
 * is away is waited for, ever longer, and told of once; the loop itself ends only when it is stopped.
 */

import type { FetchedJob } from '../jobs/job.js'
import { backoffMs, type Random } from '../kernel/backoff.js'
import type { CoreLog, MonotonicClock } from '../ports.js'
import type { WorkerPort } from '../storage/worker-port.js'
import { createWakeableWait, pause } from './waiting.js'

export interface FetchLoopOptions {
  readonly storage: Pick<WorkerPort, 'fetch'>
  readonly owner: string
  readonly queues: readonly string[] | undefined
  readonly pollIntervalMs: number
  /** Jobs to ask for now; 0: none. */
  readonly wanted: () => number
  readonly onFetched: (jobs: readonly FetchedJob[]) => void
  readonly log: CoreLog
  readonly random: Random
  readonly now: MonotonicClock
}

export interface FetchLoop {
  /** Resolves when the loop has ended, a fetch under way with it. */
  run(signal: AbortSignal): Promise<void>
  /** There may be something to fetch. */
  wake(): void
  /** Room has come for what is waiting in the storage; does nothing while the loop waits for jobs. */
  roomFreed(): void
  /** Milliseconds since the loop last turned; for liveness. */
  lastTryAgeMs(): number
}

/** Short enough that work goes on soon after an outage, long enough to be no load in one. */
const outageBackoff = { baseMs: 500, factor: 2, capMs: 5_000, jitter: 0.5 }

export function createFetchLoop(options: FetchLoopOptions): FetchLoop {
  const { storage, owner, queues, pollIntervalMs, log, now } = options
  const waiting = createWakeableWait()
  let lastTryAt = now()
  let failures = 0
  let waitsForRoom = false

  /** Looks once, and waits until it is worth looking again. */
  const look = async (signal: AbortSignal): Promise<void> => {
    const limit = options.wanted()
    waitsForRoom = limit === 0
    if (waitsForRoom) return waiting.wait(pollIntervalMs, signal)
    try {
      const jobs = await storage.fetch({ owner, limit, queues })
      if (failures > 0)
        log.info({ event: 'jobs can be fetched again', failures }, 'jobs can be fetched again')
      failures = 0
      options.onFetched(jobs)
      if (jobs.length < limit) await waiting.wait(pollIntervalMs, signal)
    } catch (error) {
      failures += 1
      if (failures === 1) {
        log.warn({ event: 'jobs can not be fetched', err: error }, 'jobs can not be fetched')
      }
      // Not to be woken: in an outage every enqueue and every outcome would be a try.
      await pause(backoffMs(outageBackoff, failures, options.random), signal)
    }
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        lastTryAt = now()
        await look(signal)
      }
    },
    wake: () => waiting.wake(),
    roomFreed() {
      if (waitsForRoom) waiting.wake()
    },
    lastTryAgeMs: () => now() - lastTryAt,
  }
}
