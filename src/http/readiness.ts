/**
 * Can the service do its work right now? Each check has a time limit of its own and is shared by all
 * who ask within two seconds, so neither a silent server nor an eager prober can pile checks up.
 */

import { AppError } from '../errors.js'
import { createCachedLook, type Seen } from '../telemetry/cached-look.js'

export interface ReadinessCheck {
  /** What is checked, as the reason's beginning: `database`, `schema`, `broker`. */
  readonly name: string
  /** Undefined when in order, else why not, in one line. Must end once the signal aborts. */
  readonly check: (signal: AbortSignal) => Promise<string | undefined>
}

/** Probes come every few seconds each, from several sides. */
const freshForMs = 2_000
/** A probe itself gives up after a second or a few; a server that needs longer isn't in order. */
const limitMs = 2_000

/** @param now monotonic milliseconds */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  now: () => number,
): () => Promise<string[]> {
  const looks = checks.map(({ name, check }) => ({
    name,
    ask: createCachedLook({ look: check, freshForMs, limitMs, now }),
  }))
  return async () => {
    const reasons = await Promise.all(
      looks.map(async ({ name, ask }) => ({ name, reason: reasonOf(await ask()) })),
    )
    return reasons.flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`${name}: ${reason}`],
    )
  }
}

function reasonOf(seen: Seen<string | undefined>): string | undefined {
  if (seen.state === 'seen') return seen.value
  if (seen.state === 'late') return `no answer within ${limitMs / 1_000} s`
  return describe(seen.error)
}

/** Anybody may ask, so only a message that was written for people is shown; else a code. */
function describe(error: unknown): string {
  if (error instanceof AppError) return error.message
  const { code, name } = error as { code?: unknown; name?: unknown }
  return `failed (${typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown'})`
}
