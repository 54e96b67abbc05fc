/**
 * The jobs that were fetched and not yet begun, and how many more may be: those for which a lane is
 * free, and as many as the lanes would begin within a second at their present pace, never more than a
 * batch. So a worker whose lanes hold long work keeps nothing from the others. Where runs are shorter than
 * a round trip to the storage, what is fetched is started with that, as far as it may be started ahead.
 */

import type { FetchedJob } from '../jobs/job.js'
import type { ConcurrencyLimiter } from '../kernel/concurrency-limiter.js'
import type { Wanted } from './fetch-loop.js'
import type { Pace } from './pace.js'

export interface Buffered {
  readonly job: FetchedJob
  /** Monotonic milliseconds. */
  readonly fetchedAt: number
}

export interface Prefetch {
  add(jobs: readonly FetchedJob[], fetchedAt: number): void
  /** The next one that may enter now. */
  next(): Buffered | undefined
  /** It has its lane, or needs none. */
  entered(): void
  /** None while there are enough. */
  wanted(): Wanted
  /** All that wait, which then wait no more. */
  drain(): readonly Buffered[]
}

/**
 * Of a second's pace, how much may be started before a lane is free, so that starts go to the storage
 * in batches where runs are shorter than a round trip. Measured with batches of 500 on a busy machine:
 * 3,100 no-op jobs a second with a tenth, 5,300 with a half, no more with all of it. What is started
 * and not run yet is a zombie after a crash, so it is no longer; and no more than have been seen to end of
 * late: what follows a few quick runs may be long ones.
 */
const startAheadShare = 0.5

/** One runs while the next is fetched: an eighth more jobs a second than with one. */
const batchesAhead = 2

/** Runs per lane and second above which a run is surely shorter than a round trip to the storage. */
const quickRunsPerLane = 20

export function createPrefetch({
  limiter,
  pace,
  batchSize,
}: {
  readonly limiter: ConcurrencyLimiter
  readonly pace: Pace
  readonly batchSize: number
}): Prefetch {
  let waiting: Buffered[] = []
  let entering = 0
  const freeLanes = (): number => Math.max(0, limiter.limit - limiter.active)

  const startAhead = (): number => {
    const perSecond = pace.perSecond(limiter.limit)
    if (perSecond <= limiter.limit * quickRunsPerLane) return 0
    return Math.min(
      batchesAhead * batchSize,
      pace.lately(),
      Math.floor(perSecond * startAheadShare),
    )
  }

  /** A batch, or half of what there may be, at least, unless nothing is left: not a fetch for each job. */
  const portion = (room: number, most: number, left: number): number => {
    const jobs = Math.min(batchSize, room)
    return left === 0 || jobs >= Math.min(batchSize, most / 2) ? Math.max(0, jobs) : 0
  }

  return {
    add(jobs, fetchedAt) {
      waiting.push(...jobs.map((job) => ({ job, fetchedAt })))
    },
    next() {
      const [first] = waiting
      if (first === undefined) return undefined
      const mayEnter = first.job.started !== undefined || entering < freeLanes() + startAhead()
      if (!mayEnter) return undefined
      waiting.shift()
      entering += 1
      return first
    },
    entered() {
      entering -= 1
    },
    wanted() {
      const ahead = startAhead()
      if (ahead > 0 && waiting.length === 0) {
        const most = freeLanes() + ahead
        const jobs = portion(most - entering, most, entering)
        return { jobs, start: true }
      }
      const most = freeLanes() - entering + Math.floor(pace.perSecond(limiter.limit))
      const room = Math.min(batchSize, most) - waiting.length
      return { jobs: portion(room, batchSize, waiting.length), start: false }
    },
    drain() {
      const all = waiting
      waiting = []
      return all
    },
  }
}
