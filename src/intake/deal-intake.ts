/**
 * The intake's lifecycle: one session with Kafka after another, until it is stopped. A broker that is
 * away, a missing topic or a refused login is waited for and told once; nothing here ends the process.
 */

import type { Logger } from 'pino'
import { backoffMs, type Random } from '../chokaq/kernel/backoff.js'
import { pause } from '../timers.js'
import { logIntake } from './intake-log.js'

export interface SessionEvents {
  readonly onJoined: () => void
  readonly onSign: () => void
  readonly onTry: () => void
}

export interface DealIntakeOptions {
  /** Resolves with why the session ended, or undefined where it was stopped. */
  readonly runSession: (events: SessionEvents, stopping: AbortSignal) => Promise<string | undefined>
  readonly topic: string
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly random: Random
}

/** A broker's restart takes seconds; ten seconds at the most after its return messages flow. */
const outageBackoff = { baseMs: 1_000, factor: 2, capMs: 10_000, jitter: 0.2 }

/** Brokers answer every second, or every three while a message waits; five of those are lost. */
const silenceMs = 15_000

export class DealIntake {
  readonly #options: DealIntakeOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #joined = false
  #failures = 0
  #failure: string | undefined
  #failingSince = 0
  #lastSignAt = 0
  #lastTryAt: number

  constructor(options: DealIntakeOptions) {
    this.#options = options
    this.#lastTryAt = options.now()
  }

  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run()
  }

  /** Resolves when the messages under way are done or rolled back, and the group has been left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Called at every try of a message as well, which may take its time. */
  noteTry(): void {
    this.#lastTryAt = this.#options.now()
  }

  /** Milliseconds since anything was last tried, whatever came of it. */
  lastTryAgeMs(): number {
    return this.#options.now() - this.#lastTryAt
  }

  /** Why no messages come from Kafka, or undefined while they do. */
  brokerFailure(): string | undefined {
    if (this.#failure !== undefined) return this.#failure
    if (!this.#joined) return 'has not joined its group yet'
    const silentMs = this.#options.now() - this.#lastSignAt
    return silentMs > silenceMs ? `no answer for ${Math.round(silentMs / 1_000)} s` : undefined
  }

  async #run(): Promise<void> {
    const { runSession, random } = this.#options
    const { signal } = this.#stopping
    const events = {
      onJoined: () => this.#sayJoined(),
      onSign: () => {
        this.#lastSignAt = this.#options.now()
      },
      onTry: () => this.noteTry(),
    }
    while (!signal.aborted) {
      this.noteTry()
      const reason = await runSession(events, signal).catch(String)
      this.#joined = false
      if (reason === undefined) break
      this.#failures += 1
      this.#sayWaiting(reason)
      await pause(backoffMs(outageBackoff, this.#failures, random), signal)
    }
    logIntake(this.#options.log, 'intake stopped', {})
  }

  #sayJoined(): void {
    const { log, topic, now } = this.#options
    if (this.#failure !== undefined) {
      logIntake(log, 'intake flows again', { afterMs: Math.round(now() - this.#failingSince) })
    } else if (!this.#joined) {
      logIntake(log, 'intake started', { topic })
    }
    this.#joined = true
    this.#failure = undefined
    this.#failures = 0
  }

  /** Once per reason: an outage of an hour is one line, not one per try. */
  #sayWaiting(reason: string): void {
    const { log, topic, now } = this.#options
    if (reason === this.#failure) return
    if (this.#failure === undefined) this.#failingSince = now()
    this.#failure = reason
    logIntake(log, 'intake waits for kafka', { topic, reason })
  }
}
