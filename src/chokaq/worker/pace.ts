/** How many runs begin per second at present, so that as much is fetched ahead as will soon be begun. */

import type { MonotonicClock } from '../ports.js'

export interface Pace {
  /** @param runMs how long the run had its lane */
  ended(runMs: number): void
  /**
   * What has ended of late, in the last full second or in the one under way taken on to its end, but no
   * more than so many lanes can do with runs as long as the last ones were.
   */
  perSecond(lanes: number): number
  /** Runs that have ended in the last full second or in the one under way, whichever are more. */
  lately(): number
}

const windowMs = 1_000

/** Runs that ended within this time of a window's begin say nothing yet of the rest of it. */
const shortestMs = 20

/** No run is shorter, whatever the clock says. */
const leastRunMs = 0.001

/** Of a new run in the mean length of runs: ten quick ones, and a long one among them is forgotten. */
const newShare = 0.2

export function createPace(now: MonotonicClock): Pace {
  let began = now()
  let current = 0
  let last = 0
  let meanRunMs = 0

  const turn = (): void => {
    const elapsed = now() - began
    if (elapsed < windowMs) return
    // After a pause of more than one window nothing ended in the last one.
    last = elapsed < 2 * windowMs ? current : 0
    current = 0
    began = now()
  }

  return {
    ended(runMs) {
      turn()
      // A window begins with work: idle time before it says nothing of the pace.
      if (current === 0 && last === 0) began = now()
      current += 1
      meanRunMs += newShare * (runMs - meanRunMs)
    },
    perSecond(lanes) {
      turn()
      const elapsed = Math.max(shortestMs, now() - began)
      // Ten runs of a second that end together are ten in a second, and not 500.
      const possible = (lanes * windowMs) / Math.max(meanRunMs, leastRunMs)
      return Math.min(possible, Math.max(last, (current * windowMs) / elapsed))
    },
    lately() {
      turn()
      return Math.max(last, current)
    },
  }
}
