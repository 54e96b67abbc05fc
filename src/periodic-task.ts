/** Something done now and then in the background, whose failure is told and tried again next time. */

import type { Logger } from 'pino'
import { pause } from './timers.js'

export interface PeriodicTaskOptions {
  /** For the log. */
  readonly name: string
  readonly intervalMs: number
  readonly run: (stopping: AbortSignal) => Promise<void>
  readonly log: Logger
}

export class PeriodicTask {
  readonly #options: PeriodicTaskOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: PeriodicTaskOptions) {
    this.#options = options
  }

  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#loop()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #loop(): Promise<void> {
    const { name, intervalMs, run, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await run(signal)
      } catch (error) {
        log.warn(
          { event: 'background task failed', task: name, err: error },
          'background task failed',
        )
      }
      await pause(intervalMs, signal)
    }
  }
}
