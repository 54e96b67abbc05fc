/** Waits for a condition: the one place in the tests with a timer. */

import { setTimeout as delay } from 'node:timers/promises'

/** Short beside what servers need to change state, long enough to leave them the processor. */
const pollIntervalMs = 25
/** Far above what a healthy server needs on two busy cores; reached only by a real fault. */
const defaultTimeoutMs = 45_000

/**
 * Polls until `condition` gives something other than false, null or undefined, and returns it.
 * A throw inside counts as "not yet"; the last one is the cause of the error after the time limit.
 */
export async function waitFor<T>(
  description: string,
  condition: () => T | Promise<T>,
  { timeoutMs = defaultTimeoutMs }: { timeoutMs?: number } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = Date.now() + timeoutMs
  let lastError: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value !== false && value !== null && value !== undefined) {
        return value as Exclude<T, false | null | undefined>
      }
      lastError = undefined
    } catch (error) {
      lastError = error
    }
    if (Date.now() >= deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain for: ${description}`, { cause: lastError })
    }
    await delay(pollIntervalMs)
  }
}
