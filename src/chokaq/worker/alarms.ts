/**
 * Many alarms on one timer. Every run sets some (its time limit, its heartbeat, its silence) and next to
 * none of them ever rings, so setting and cancelling is what has to be cheap: the timer stays as it is
 * where the earliest alarm is cancelled, and finds out when it fires.
 */

import { longestTimerMs } from './waiting.js'

export interface Alarm {
  /** Later calls do nothing, nor does one after it has rung. */
  cancel(): void
}

export interface Alarms {
  /** Calls `ring` once, `ms` milliseconds from now or a little later. */
  set(ms: number, ring: () => void): Alarm
}

export function createAlarms(): Alarms {
  const pending = new Set<PendingAlarm>()
  let timer: NodeJS.Timeout | undefined
  let firesAt = Infinity

  const disarm = (): void => {
    clearTimeout(timer)
    firesAt = Infinity
  }

  const arm = (at: number): void => {
    clearTimeout(timer)
    firesAt = at
    const ms = Math.ceil(at - performance.now())
    timer = setTimeout(fire, Math.min(Math.max(0, ms), longestTimerMs))
  }

  const fire = (): void => {
    firesAt = Infinity
    const now = performance.now()
    let next = Infinity
    const due: PendingAlarm[] = []
    for (const alarm of pending) {
      if (alarm.at <= now) due.push(alarm)
      else if (alarm.at < next) next = alarm.at
    }
    if (next < Infinity) arm(next)
    // One that rings may cancel another one that is due, or set new ones.
    for (const alarm of due) if (pending.delete(alarm)) alarm.ring()
  }

  class PendingAlarm implements Alarm {
    readonly at: number
    readonly ring: () => void

    constructor(at: number, ring: () => void) {
      this.at = at
      this.ring = ring
    }

    cancel(): void {
      pending.delete(this)
      // A timer for nothing would keep the process alive.
      if (pending.size === 0 && firesAt < Infinity) disarm()
    }
  }

  return {
    set(ms, ring) {
      const at = performance.now() + ms
      const alarm = new PendingAlarm(at, ring)
      pending.add(alarm)
      if (at < firesAt) arm(at)
      return alarm
    },
  }
}
