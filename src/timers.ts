/** Waiting that can be cut short, and pauses that may be longer than a timer can hold. */

/** setTimeout keeps its delay in 32 bits; a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1

/** Resolves after `ms` milliseconds, or as soon as the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let left = ms
  while (left > 0 && signal?.aborted !== true) {
    const slice = Math.min(left, longestTimerMs)
    await timerOrAbort(slice, signal)
    left -= slice
  }
}

/**
 * Resolves when the work has ended or the time is up, whichever comes first; then no timer is left to keep
 * the process from its end. Rejects where the work does so in time.
 */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController()
  try {
    await Promise.race([work, pause(ms, over.signal)])
  } finally {
    over.abort()
  }
}

/**
 * What `work` comes to, or undefined as soon as the signal aborts: then it is no longer waited for, and
 * what becomes of it is nobody's. For looks, which change nothing.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const settled = new AbortController()
  const aborted = new Promise<undefined>((resolve) => {
    const end = (): void => resolve(undefined)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { signal: settled.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    settled.abort()
  }
}

// The global timer, not node:timers/promises: only the global one follows a test's clock.
function timerOrAbort(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
