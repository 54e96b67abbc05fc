/** Waiting that can be cut short and may be longer than a timer can hold. */

import { setTimeout as timeout } from 'node:timers/promises'

/** setTimeout keeps its delay in 32 bits; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** Resolves after `ms` milliseconds, or as soon as the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let left = ms
  while (left > 0 && signal?.aborted !== true) {
    const slice = Math.min(left, longestTimerMs)
    await timeout(slice, undefined, { signal }).catch(() => undefined)
    left -= slice
  }
}
