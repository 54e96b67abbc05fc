/** How many runs end per second at present, so that as much is fetched ahead as will soon be begun. */

import type { MonotonicClock } from '../ports.js'

export interface Pace {
  ended(): void
  /** Of the last full window and the one under way, whichever is more. */
  perSecond(): number
}

const windowMs = 1_000

export function createPace(now: MonotonicClock): Pace {
  let began = now()
  let current = 0
  let last = 0

  const turn = (): void => {
    const elapsed = now() - began
    if (elapsed < windowMs) return
    // After a pause of more than one window nothing ended in the last one.
    last = elapsed < 2 * windowMs ? current : 0
    current = 0
    began = now()
  }

  return {
    ended() {
      turn()
      current += 1
    },
    perSecond() {
      turn()
      return Math.max(last, current)
    },
  }
}
