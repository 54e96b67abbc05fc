/**
 * Keeps one running job alive: says so to the storage at random intervals, and learns there whether the
 * job is still this worker's and whether an operator wants it ended.
 */

import type { Random } from '../kernel/backoff.js'
import type { MonotonicClock } from '../ports.js'
import type { HeartbeatResult } from '../storage/worker-port.js'
import { createWakeableWait } from './waiting.js'

export interface HeartbeatOptions {
  readonly minMs: number
  readonly maxMs: number
  /** After so long without an answer the job may be taken for dead elsewhere. */
  readonly silentMs: number
  readonly beat: () => Promise<HeartbeatResult>
  readonly random: Random
  readonly now: MonotonicClock
  readonly onCancelRequested: (cancel: { readonly by: string; readonly reason: string }) => void
  /** The job is another's now, or nobody's. No further beat is made. */
  readonly onLost: () => void
  /** Called once: no beat has been answered for `silentMs`. It goes on trying. */
  readonly onSilent: () => void
}

export interface Heartbeat {
  /** Beats now, to hear of a cancellation at once. */
  beatNow(): void
  stop(): void
}

/** Between two tries while the storage doesn't answer. */
const retryMs = 1_000

export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { minMs, maxMs, silentMs, beat, random, now } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const waiting = createWakeableWait()
  let answeredAt = now()
  let silent = false

  const beatOnce = async (): Promise<number> => {
    try {
      const result = await beat()
      if (signal.aborted) return 0
      answeredAt = now()
      if (result.outcome === 'stale') {
        stopping.abort()
        options.onLost()
      } else if (result.outcome === 'cancel-requested') {
        options.onCancelRequested(result)
      }
      return minMs + (maxMs - minMs) * random()
    } catch {
      // Whoever settles jobs tells of the outage; here only how long it has lasted matters.
      return Math.min(retryMs, minMs)
    }
  }

  const run = async (): Promise<void> => {
    let delayMs = minMs + (maxMs - minMs) * random()
    for (;;) {
      await waiting.wait(delayMs, signal)
      if (signal.aborted) return
      delayMs = await beatOnce()
    }
  }

  // Its own timer, for a beat may hang as long as a frozen server.
  const watch = setInterval(
    () => {
      if (silent || now() - answeredAt < silentMs) return
      silent = true
      options.onSilent()
    },
    Math.min(silentMs, maxMs) / 2,
  )
  signal.addEventListener('abort', () => clearInterval(watch))
  void run()
  return { beatNow: () => waiting.wake(), stop: () => stopping.abort() }
}
