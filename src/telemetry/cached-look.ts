/**
 * A look at another system that many ask for at once: one at a time, its answer shared while it is
 * fresh, and nobody waits longer than the limit. A look that doesn't come back blocks no later
 * asker and is not repeated before it has ended, so a frozen system can't pile up askers or looks.
 */

export type Seen<T> =
  | { readonly state: 'seen'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }
  /** Still under way when the limit had passed. */
  | { readonly state: 'late' }

interface CachedLookOptions<T> {
  /** Must end some day: its signal aborts at the limit. */
  readonly look: (signal: AbortSignal) => Promise<T>
  /** An answer, good or bad, serves so long; milliseconds. */
  readonly freshForMs: number
  /** From the start of a look; milliseconds. */
  readonly limitMs: number
  /** Monotonic milliseconds. */
  readonly now: () => number
}

interface Flight {
  /** At most this long do askers wait for it, together. */
  readonly late: Promise<{ state: 'late' }>
  readonly answer: Promise<void>
}

/** The returned function never rejects. */
export function createCachedLook<T>(options: CachedLookOptions<T>): () => Promise<Seen<T>> {
  const { look, freshForMs, limitMs, now } = options
  let last: { readonly seen: Seen<T>; readonly at: number } | undefined
  let flight: Flight | undefined

  function takeOff(): Flight {
    const limit = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<{ state: 'late' }>((resolve) => {
      timer = setTimeout(() => {
        limit.abort(new Error(`no answer within ${limitMs} ms`))
        resolve({ state: 'late' })
      }, limitMs)
    })
    const land = (seen: Seen<T>) => {
      clearTimeout(timer)
      last = { seen, at: now() }
      flight = undefined
    }
    const answer = Promise.resolve(limit.signal)
      .then(look)
      .then(
        (value) => land({ state: 'seen', value }),
        (error: unknown) => land({ state: 'failed', error }),
      )
    return { late, answer }
  }

  return async () => {
    if (last !== undefined && flight === undefined && now() - last.at < freshForMs) return last.seen
    flight ??= takeOff()
    const { late, answer } = flight
    return Promise.race([late, answer.then(() => last?.seen ?? { state: 'late' as const })])
  }
}
