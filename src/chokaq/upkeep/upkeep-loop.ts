/** Something that every instance does again and again, whose failure is told once and tried again. */

import type { CoreLog, MonotonicClock } from '../ports.js'
import { pause } from '../worker/waiting.js'

export interface UpkeepLoop {
  /** Does nothing the second time, and after `stop`. */
  start(): void
  /** Resolves when the pass under way has ended. */
  stop(): Promise<void>
  readonly name: string
  readonly intervalMs: number
  /** Milliseconds since the last call of a pass to the storage; for liveness. */
  lastTryAgeMs(): number
}

export type UpkeepPass = (signal: AbortSignal, tried: () => void) => Promise<void>

export interface UpkeepLoopOptions {
  /** For the log. */
  readonly name: string
  readonly intervalMs: number
  /** Ends early where the signal aborts, and says before each of its calls that it goes on. */
  readonly pass: UpkeepPass
  readonly log: CoreLog
  readonly now: MonotonicClock
}

export function createUpkeepLoop(options: UpkeepLoopOptions): UpkeepLoop {
  const { name, intervalMs, pass, log, now } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let lastTryAt = now()
  let failing = false
  const tried = (): void => {
    lastTryAt = now()
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      tried()
      try {
        await pass(signal, tried)
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
    name,
    intervalMs,
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
