/**
 * The kernel's circuit breaker as the relay uses it: one failure opens it, for every send has tried
 * several times already; it stays open longer each time in a row; and it remembers why.
 */

import { backoffMs, type Random } from '../chokaq/kernel/backoff.js'
import { createCircuitBreaker, type CircuitLease } from '../chokaq/kernel/circuit-breaker.js'

/**
 * The first probe comes soon, for most outages are a broker's restart. The cap bounds the lag after
 * a long one: ten seconds and a send after the last broker is back, everything flows.
 */
const probing = { baseMs: 1_000, factor: 2, capMs: 10_000, jitter: 0.2 }

export interface ProbingBreaker {
  /** Why it is open or being probed; undefined while all is well. */
  readonly failure: string | undefined
  /** Milliseconds until a probe may try; 0 when a try is allowed now. */
  readonly retryInMs: number
  tryAcquire(): CircuitLease | undefined
  /** Ends the lease as failed; true when this is news: a first failure, or one for a new reason. */
  fail(lease: CircuitLease, reason: string): boolean
  /** Ends the lease as succeeded and returns how long the trouble lasted, in milliseconds. */
  succeed(lease: CircuitLease): number | undefined
}

export function createProbingBreaker(now: () => number, random: Random): ProbingBreaker {
  let failures = 0
  let failure: string | undefined
  let since = 0
  let openMs = 0
  let openedAt = 0
  const breaker = createCircuitBreaker({
    failureThreshold: 1,
    get openMs() {
      return openMs
    },
    now,
  })
  return {
    get failure() {
      return failure
    },
    get retryInMs() {
      return breaker.state === 'open' ? Math.max(0, openedAt + openMs - now()) : 0
    },
    tryAcquire: () => breaker.tryAcquire(),
    fail(lease, reason) {
      const news = reason !== failure
      if (failures === 0) since = now()
      failures += 1
      failure = reason
      openMs = backoffMs(probing, failures, random)
      lease.failed()
      // After the breaker's own look at the clock, so that its "open" never ends later than ours.
      openedAt = now()
      return news
    },
    succeed(lease) {
      const lastedMs = failure === undefined ? undefined : now() - since
      failures = 0
      failure = undefined
      lease.succeeded()
      return lastedMs
    },
  }
}
