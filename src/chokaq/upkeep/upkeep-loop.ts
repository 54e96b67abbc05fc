/** Something that every instance does again and again, whose failure is told once and tried again. */

import type { CoreLog, MonotonicClock } from '../ports.js'
import { pause } from '../worker/waiting.js'

export interface UpkeepLoop {
  /** Does nothing the second time, and after `stop`. */
  start(): void
  /** Resolves when the pass under way has ended. */
  stop(): Promise<void>
  /** Milliseconds since the last pass began; for liveness. */
  lastTryAgeMs(): number
}

export interface UpkeepLoopOptions {
  /** For the log. */
  readonly name: string
  readonly intervalMs: number
  /** Ends early where the signal aborts. */
  readonly pass: (signal: AbortSignal) => Promise<void>
  readonly log: CoreLog
  readonly now: MonotonicClock
}

export function createUpkeepLoop(options: UpkeepLoopOptions): UpkeepLoop {
  const { name, intervalMs, pass, log, now } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let lastTryAt = now()
  let failing = false

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      lastTryAt = now()
      try {
        await pass(signal)
        failing = false
      } catch (error) {
        const about = { event: 'job upkeep failed', task: name, err: error }
        if (!failing) log.warn(about, 'job upkeep failed')
        failing = true
      }
      await pause(intervalMs, signal)
    }
  }

  let looping: Promise<void> | undefined
  return {
    start() {
      if (!signal.aborted) looping ??= run()
    },
    async stop() {
      stopping.abort()
      await looping
    },
    lastTryAgeMs: () => now() - lastTryAt,
  }
}
