/**
 * Runs a cycle at the start and then every PollingInterval, at a fixed rate: the next tick never
 * starts while one runs, and ticks missed are not made up for. An outage ends a cycle, never the loop.
 */

import type { Logger } from 'pino'
import { AppError } from '../errors.js'
import { classifyFailure } from '../postgres/failure-class.js'
import { pause } from '../timers.js'
import type { CycleSummary } from './cycle.js'

export interface CycleLoopOptions {
  readonly pollingIntervalMs: number
  /** Checked before each cycle: is the database there, and its schema in order? Rejects if not. */
  readonly prepare: (stopping: AbortSignal) => Promise<void>
  readonly runCycle: (stopping: AbortSignal) => Promise<CycleSummary>
  /** Called once, when the loop has ended because waiting can't mend what is wrong. */
  readonly onFatal: (error: AppError) => void
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** While the database isn't ready, looked for this often, if PollingInterval isn't shorter still. */
const notReadyPauseMs = 5_000

export class CycleLoop {
  readonly #options: CycleLoopOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #lastTryAt: number
  #waitingFor: string | undefined
  /** What this outage was told to be so far: it may show itself by several codes in turn. */
  readonly #told = new Set<string>()

  constructor(options: CycleLoopOptions) {
    this.#options = options
    this.#lastTryAt = options.now()
  }

  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run()
  }

  /** Resolves when the rows that were under way have committed or rolled back. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Milliseconds since the loop last tried, whatever came of it. */
  lastTryAgeMs(): number {
    return this.#options.now() - this.#lastTryAt
  }

  async #run(): Promise<void> {
    const { pollingIntervalMs, now } = this.#options
    let due = now()
    while (!this.#stopping.signal.aborted) {
      const ran = await this.#tick()
      if (ran === 'fatal' || ran === 'stopped') return
      if (ran === 'ran') {
        // The next tick of the fixed rate that is still to come.
        due += (Math.floor(Math.max(0, now() - due) / pollingIntervalMs) + 1) * pollingIntervalMs
      } else {
        due = now() + Math.min(notReadyPauseMs, pollingIntervalMs)
      }
      await pause(due - now(), this.#stopping.signal)
    }
  }

  async #tick(): Promise<'ran' | 'not ready' | 'stopped' | 'fatal'> {
    const { prepare, runCycle, onFatal, now } = this.#options
    const { signal } = this.#stopping
    this.#lastTryAt = now()
    try {
      await prepare(signal)
      if (signal.aborted) return 'stopped'
      await runCycle(signal)
      this.#sayReady()
      return 'ran'
    } catch (error) {
      if (error instanceof AppError && !error.retryable) {
        onFatal(error)
        return 'fatal'
      }
      this.#sayWaiting(error)
      return 'not ready'
    } finally {
      this.#lastTryAt = now()
    }
  }

  /** Once per reason: an outage of an hour is one line, not one per try. */
  #sayWaiting(error: unknown): void {
    const isForPeople = error instanceof AppError
    const reason = isForPeople ? error.code : classifyFailure(error).code
    // The same code may be told for another cause: first no such database, then a wrong password.
    const what = isForPeople ? error.message : reason
    const level = this.#told.has(what) ? 'debug' : 'warn'
    this.#told.add(what)
    this.#waitingFor = reason
    const fields = isForPeople ? { reason, detail: error.message } : { reason, err: error }
    this.#options.log[level]({ event: 'cycle waiting', ...fields }, 'cycle waiting')
  }

  #sayReady(): void {
    if (this.#waitingFor === undefined) return
    const { log } = this.#options
    log.info({ event: 'cycle resumed', waitedFor: this.#waitingFor }, 'cycle resumed')
    this.#waitingFor = undefined
    this.#told.clear()
  }
}
