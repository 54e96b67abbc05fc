/**
 * Is the process worth keeping? Yes while its loops keep trying, outage or not: a restart mends a
 * loop that stands still, never a database that is away.
 */

export interface WatchedLoop {
  readonly name: string
  /** Milliseconds since the loop last tried, whatever came of it. */
  lastTryAgeMs(): number
  /** Two intervals and the longest run; beyond that it stands still. */
  readonly allowedMs: number
}

/** One line for each loop that stands still. */
export function stalledLoops(loops: readonly WatchedLoop[]): string[] {
  return loops.flatMap((loop) => {
    const ageMs = loop.lastTryAgeMs()
    if (ageMs <= loop.allowedMs) return []
    const [age, allowed] = [ageMs, loop.allowedMs].map((ms) => Math.round(ms / 1_000))
    return [`${loop.name}: no try for ${age} s, allowed are ${allowed} s`]
  })
}
