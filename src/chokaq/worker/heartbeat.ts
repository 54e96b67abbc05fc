/**
 * Keeps one running job alive: says so to the storage at random intervals, and learns there whether the
 * job is still this worker's and whether an operator wants it ended.
 */

import type { Random } from '../kernel/backoff.js'
import type { HeartbeatResult } from '../storage/worker-port.js'
import { longestTimerMs } from './waiting.js'

export interface HeartbeatOptions {
  readonly minMs: number
  readonly maxMs: number
  /** After so long without an answer the job may be taken for dead elsewhere. */
  readonly silentMs: number
  readonly beat: () => Promise<HeartbeatResult>
  readonly random: Random
  readonly onCancelRequested: (cancel: { readonly by: string; readonly reason: string }) => void
  /** The job is another's now, or nobody's. No further beat is made. */
  readonly onLost: () => void
  /** No beat has been answered for `silentMs`. It goes on trying. */
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
  const { minMs, maxMs, silentMs, beat, random } = options
  let stopped = false
  let beating = false
  let nextBeat: NodeJS.Timeout | undefined
  let silence: NodeJS.Timeout | undefined

  const stop = (): void => {
    stopped = true
    clearTimeout(nextBeat)
    clearTimeout(silence)
  }

  /** Its own timer, for a beat may hang as long as a frozen server. */
  const watch = (): void => {
    clearTimeout(silence)
    silence = setTimeout(options.onSilent, Math.min(silentMs, longestTimerMs))
  }

  const schedule = (ms: number): void => {
    nextBeat = setTimeout(() => void beatOnce(), Math.min(ms, longestTimerMs))
  }

  const beatOnce = async (): Promise<void> => {
    beating = true
    const result = await beat().catch(() => undefined)
    beating = false
    if (stopped) return
    if (result === undefined) {
      // The fetch loop tells of the outage; here only how long it lasts matters.
      schedule(Math.min(retryMs, minMs))
      return
    }
    if (result.outcome === 'stale') {
      stop()
      options.onLost()
      return
    }
    watch()
    schedule(minMs + (maxMs - minMs) * random())
    if (result.outcome === 'cancel-requested') options.onCancelRequested(result)
  }

  watch()
  schedule(minMs + (maxMs - minMs) * random())
  return {
    beatNow() {
      if (stopped || beating) return
      clearTimeout(nextBeat)
      void beatOnce()
    },
    stop,
  }
}
