/**
 * Keeps one running job alive: says so to the storage at random intervals, and learns there whether the
 * job is still this worker's and whether an operator wants it ended.
 */

import type { Random } from '../kernel/backoff.js'
import type { HeartbeatResult } from '../storage/worker-port.js'
import type { Alarm, Alarms } from './alarms.js'

/** Alike for all of a worker's jobs. */
export interface HeartbeatOptions {
  readonly minMs: number
  readonly maxMs: number
  readonly alarms: Alarms
  readonly random: Random
}

/** Whose heart it is. */
export interface HeartbeatOwner {
  beat(): Promise<HeartbeatResult>
  onCancelRequested(cancel: { readonly by: string; readonly reason: string }): void
  /** The job is another's now, or nobody's. No further beat is made. */
  onLost(): void
  /** No beat has been answered for the time of silence. It goes on trying. */
  onSilent(): void
}

/** Between two tries while the storage doesn't answer. */
const retryMs = 1_000

/**
 * One alarm for the next beat and for the silence, whichever comes first: nearly all runs end before it
 * rings. The silence is watched over a beat under way, too, which may hang as long as a frozen server.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #silentMs: number
  readonly #owner: HeartbeatOwner
  #stopped = false
  /** Monotonic milliseconds; Infinity while a beat is under way. */
  #beatAt: number
  /** A beat was asked for while another one was under way, which may have left too early to hear. */
  #again = false
  /** Infinity once it has been told of. */
  #silentAt: number
  #alarm: Alarm

  /** @param silentMs after so long without an answer the job may be taken for dead elsewhere */
  constructor(options: HeartbeatOptions, silentMs: number, owner: HeartbeatOwner) {
    this.#options = options
    this.#silentMs = silentMs
    this.#owner = owner
    const now = performance.now()
    this.#silentAt = now + silentMs
    this.#beatAt = now + this.#intervalMs()
    this.#alarm = this.#setAlarm(now)
  }

  /** Beats now, to hear of a cancellation at once. */
  beatNow(): void {
    if (this.#stopped) return
    if (this.#beatAt === Infinity) this.#again = true
    else void this.#beatOnce()
  }

  stop(): void {
    this.#stopped = true
    this.#alarm.cancel()
  }

  #intervalMs(): number {
    const { minMs, maxMs, random } = this.#options
    return minMs + (maxMs - minMs) * random()
  }

  #setAlarm(now: number): Alarm {
    const ms = Math.min(this.#beatAt, this.#silentAt) - now
    return this.#options.alarms.set(ms, () => this.#ring())
  }

  #watch(): void {
    this.#alarm.cancel()
    const now = performance.now()
    if (Math.min(this.#beatAt, this.#silentAt) < Infinity) this.#alarm = this.#setAlarm(now)
  }

  #ring(): void {
    const now = performance.now()
    if (now >= this.#silentAt) {
      this.#silentAt = Infinity
      this.#owner.onSilent()
    }
    if (this.#stopped) return
    if (now >= this.#beatAt) void this.#beatOnce()
    else this.#watch()
  }

  async #beatOnce(): Promise<void> {
    this.#beatAt = Infinity
    this.#watch()
    const result = await this.#owner.beat().catch(() => undefined)
    if (this.#stopped) return
    if (result === undefined) {
      // The fetch loop tells of the outage; here only how long it lasts matters.
      this.#beatAt = performance.now() + Math.min(retryMs, this.#options.minMs)
      this.#watch()
      return
    }
    if (result.outcome === 'stale') {
      this.stop()
      this.#owner.onLost()
      return
    }
    const now = performance.now()
    this.#silentAt = now + this.#silentMs
    this.#beatAt = this.#again ? now : now + this.#intervalMs()
    this.#again = false
    this.#watch()
    if (result.outcome === 'cancel-requested') this.#owner.onCancelRequested(result)
  }
}
