/**
 * Looks for jobs: at once when woken, else at every poll, and as long as there are more. A storage that
 * is away is waited for, ever longer, and told of once; the loop itself ends only when it is stopped.
 */

import type { FetchedJob } from '../jobs/job.js'
import { backoffMs, type Random } from '../kernel/backoff.js'
import type { CoreLog, MonotonicClock } from '../ports.js'
import type { LostJob, WorkerPort } from '../storage/worker-port.js'
import { createWakeableWait, pause } from './waiting.js'

export interface FetchLoopOptions {
  readonly storage: Pick<WorkerPort, 'fetch' | 'giveBackLost'>
  readonly owner: string
  readonly queues: readonly string[] | undefined
  readonly pollIntervalMs: number
  readonly wanted: () => Wanted
  readonly onFetched: (jobs: readonly FetchedJob[]) => void
  /** Tokens of all leases that the worker knows of. */
  readonly held: () => readonly number[]
  readonly onGivenBack: (jobs: readonly LostJob[]) => void
  readonly log: CoreLog
  readonly random: Random
  readonly now: MonotonicClock
}

/** What to ask for now. */
export interface Wanted {
  /** 0: nothing. */
  readonly jobs: number
  /** They are run at once: to be started as they are fetched. */
  readonly start: boolean
}

export interface FetchLoop {
  /** Resolves when the loop has ended, a fetch under way with it. */
  run(signal: AbortSignal): Promise<void>
  /** There may be something to fetch. */
  wake(): void
  /** Room has come for what is waiting in the storage; does nothing while the loop waits for jobs. */
  roomFreed(): void
  /** Gives back what a fetch without an answer may have taken; once the loop has ended. */
  settleLost(): Promise<void>
  /** Milliseconds since the loop last turned; for liveness. */
  lastTryAgeMs(): number
}

/** Short enough that work goes on soon after an outage, long enough to be no load in one. */
const outageBackoff = { baseMs: 500, factor: 2, capMs: 5_000, jitter: 0.5 }

/**
 * A fetch that failed may still be at work in the storage when the next call is answered, but not for
 * longer than this: what it has taken by then is looked for once more.
 */
const lostForMs = 30_000

export function createFetchLoop(options: FetchLoopOptions): FetchLoop {
  const { storage, owner, queues, pollIntervalMs, log, now } = options
  const waiting = createWakeableWait()
  let lastTryAt = now()
  let failures = 0
  let waitsForRoom = false
  // Monotonic times at which to look for what a fetch has taken and not told.
  let looksForLost: readonly number[] = []

  const giveBackLost = async (): Promise<void> => {
    const jobs = await storage.giveBackLost({ owner, held: options.held() })
    if (jobs.length === 0) return
    log.warn({ event: 'jobs of a lost fetch', jobs: jobs.length }, 'jobs of a lost fetch')
    options.onGivenBack(jobs)
  }

  const lookForLost = async (): Promise<void> => {
    const [next] = looksForLost
    if (next === undefined || now() < next) return
    await giveBackLost()
    looksForLost = looksForLost.slice(1).map(() => now() + lostForMs)
  }

  const fetch = async ({ jobs, start }: Wanted): Promise<readonly FetchedJob[]> => {
    try {
      return await storage.fetch({ owner, limit: jobs, queues, start })
    } catch (error) {
      looksForLost = [now(), now() + lostForMs]
      throw error
    }
  }

  /** Looks once, and waits until it is worth looking again. */
  const look = async (signal: AbortSignal): Promise<void> => {
    const wanted = options.wanted()
    waitsForRoom = wanted.jobs === 0
    try {
      // Also while there is no room: what was started and is not known of has nobody's heartbeat.
      await lookForLost()
      if (waitsForRoom) {
        await waiting.wait(pollIntervalMs, signal)
        return
      }
      const jobs = await fetch(wanted)
      if (failures > 0)
        log.info({ event: 'jobs can be fetched again', failures }, 'jobs can be fetched again')
      failures = 0
      options.onFetched(jobs)
      if (jobs.length < wanted.jobs) await waiting.wait(pollIntervalMs, signal)
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
    async settleLost() {
      if (looksForLost.length > 0) await giveBackLost()
    },
    wake: () => waiting.wake(),
    roomFreed() {
      if (waitsForRoom) waiting.wake()
    },
    lastTryAgeMs: () => now() - lastTryAt,
  }
}
