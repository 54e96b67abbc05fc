/** Waiting that ends early: when a signal aborts, or when somebody wakes it. */

/** setTimeout keeps its delay in 32 bits; a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1

/** Resolves after `ms` milliseconds, or as soon as the signal aborts; never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(ms, longestTimerMs))
    signal?.addEventListener('abort', end)
  })
}

/** Resolves when the work has ended or the time is up, whichever comes first. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController()
  await Promise.race([work, pause(ms, over.signal)])
  over.abort()
}

export interface WakeableWait {
  /** Until `ms` have passed, the signal aborts or `wake` is called; a wake that came before counts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  wake(): void
}

export function createWakeableWait(): WakeableWait {
  let woken = false
  let end: (() => void) | undefined
  return {
    async wait(ms, signal) {
      if (!woken && !signal.aborted) {
        await new Promise<void>((resolve) => {
          end = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', abort)
            end = undefined
            resolve()
          }
          const abort = (): void => end?.()
          const timer = setTimeout(abort, Math.min(ms, longestTimerMs))
          signal.addEventListener('abort', abort)
        })
      }
      woken = false
    },
    wake() {
      woken = true
      end?.()
    },
  }
}
