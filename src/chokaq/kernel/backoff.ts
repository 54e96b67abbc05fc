/**
 * How long to wait before the next run of something that failed.
 *
 * `d = min(cap, base * factor^(attempts - 1))`, then uniform in `[(1 - jitter) * d, d]`:
 * the first retry waits `base`, never `base * factor`, and jitter only ever shortens,
 * so the cap is a promise.
 */

export interface BackoffPolicy {
  /** Milliseconds before the second run, > 0: a base of 0 would make a retry storm. */
  readonly baseMs: number
  /** ≥ 1. */
  readonly factor: number
  /** Milliseconds, ≥ baseMs. */
  readonly capMs: number
  /** 0 to 1: the share of the delay that chance may take away. */
  readonly jitter: number
}

/** Uniform in [0, 1), as `Math.random`. */
export type Random = () => number

/**
 * Milliseconds to wait after `attempts` runs (≥ 1). Finite and within the cap for any attempts:
 * `factor^n` may overflow to Infinity, which `Math.min` takes back to the cap.
 */
export function backoffMs(policy: BackoffPolicy, attempts: number, random: Random): number {
  const exponent = Math.max(0, attempts - 1)
  const delay = Math.min(policy.capMs, policy.baseMs * policy.factor ** exponent)
  return delay * (1 - policy.jitter * random())
}
