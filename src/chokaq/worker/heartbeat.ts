/**
 * Keeps one running job alive: says so to the storage at random intervals, and learns there whether the
 * job is still this worker's and whether an operator wants it ended.
 */

import type { Random } from '../kernel/backoff.js'
import type { HeartbeatResult } from '../storage/worker-port.js'
import type { Alarm, Alarms } from './alarms.js'

export interface HeartbeatOptions {
  readonly minMs: number
  readonly maxMs: number
  /** After so long without an answer the job may be taken for dead elsewhere. */
  readonly silentMs: number
  readonly alarms: Alarms
  readonly random: Random
}

/** Whose heart it is. */
export interface HeartbeatOwner {
  beat(): Promise<HeartbeatResult>
  onCancelRequested(cancel: { readonly by: string; readonly reason: string }): void
  /** The job is another's now, or nobody's. No further beat is made. */
  onLost(): void
  /** No beat has been answered for `silentMs`. It goes on trying. */
  onSilent(): void
}

/** Between two tries while the storage doesn't answer. */
const retryMs = 1_000

export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #owner: HeartbeatOwner
  #stopped = false
  #beating = false
  #nextBeat: Alarm
  #silence: Alarm

  constructor(options: HeartbeatOptions, owner: HeartbeatOwner) {
    this.#options = options
    this.#owner = owner
    this.#silence = this.#watch()
    this.#nextBeat = this.#schedule(this.#intervalMs())
  }

  /** Beats now, to hear of a cancellation at once. */
  beatNow(): void {
    if (this.#stopped || this.#beating) return
    this.#nextBeat.cancel()
    void this.#beatOnce()
  }

  stop(): void {
    this.#stopped = true
    this.#nextBeat.cancel()
    this.#silence.cancel()
  }

  /** Its own alarm, for a beat may hang as long as a frozen server. */
  #watch(): Alarm {
    return this.#options.alarms.set(this.#options.silentMs, () => this.#owner.onSilent())
  }

  #schedule(ms: number): Alarm {
    return this.#options.alarms.set(ms, () => void this.#beatOnce())
  }

  #intervalMs(): number {
    const { minMs, maxMs, random } = this.#options
    return minMs + (maxMs - minMs) * random()
  }

  async #beatOnce(): Promise<void> {
    this.#beating = true
    const result = await this.#owner.beat().catch(() => undefined)
    this.#beating = false
    if (this.#stopped) return
    if (result === undefined) {
      // The fetch loop tells of the outage; here only how long it lasts matters.
      this.#nextBeat = this.#schedule(Math.min(retryMs, this.#options.minMs))
      return
    }
    if (result.outcome === 'stale') {
      this.stop()
      this.#owner.onLost()
      return
    }
    this.#silence.cancel()
    this.#silence = this.#watch()
    this.#nextBeat = this.#schedule(this.#intervalMs())
    if (result.outcome === 'cancel-requested') this.#owner.onCancelRequested(result)
  }
}
