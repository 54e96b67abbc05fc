/**
 * A circuit breaker with leases: after `failureThreshold` failures in a row it refuses work for
 * `openMs`, then lets one probe through. Every permission is a lease of the circuit's present
 * generation; what a lease of an older generation reports is ignored, so a probe that comes back
 * late can't close a circuit that has opened again since.
 *
 * Pure: the clock is a parameter (monotonic milliseconds).
 */

export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit, ≥ 1. */
  readonly failureThreshold: number
  /** Milliseconds that it stays open before one probe may try. */
  readonly openMs: number
  /** Monotonic milliseconds, for example `performance.now`. */
  readonly now: () => number
}

export type CircuitState = 'closed' | 'open' | 'half-open'

/** Permission for one try; exactly one of its methods is called, once. Later calls do nothing. */
export interface CircuitLease {
  succeeded(): void
  failed(): void
  /** The try said nothing about the dependency (it was cancelled, or its payload was at fault). */
  released(): void
}

export interface CircuitBreaker {
  readonly state: CircuitState
  /** A lease, or undefined while the circuit is open or its one probe is under way. */
  tryAcquire(): CircuitLease | undefined
}

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  let generation = 0
  let consecutiveFailures = 0
  let openedAt: number | undefined
  let probing = false

  const currentState = (): CircuitState => {
    if (openedAt === undefined) return 'closed'
    return options.now() - openedAt < options.openMs ? 'open' : 'half-open'
  }

  const open = (): void => {
    generation += 1
    openedAt = options.now()
    probing = false
  }

  const close = (): void => {
    if (openedAt !== undefined) generation += 1
    openedAt = undefined
    probing = false
    consecutiveFailures = 0
  }

  const lease = (isProbe: boolean): CircuitLease => {
    const leased = generation
    let settled = false
    const settle = (effect: () => void) => () => {
      if (settled || leased !== generation) return
      settled = true
      effect()
    }
    return {
      succeeded: settle(close),
      failed: settle(() => {
        consecutiveFailures += 1
        if (isProbe || consecutiveFailures >= options.failureThreshold) open()
      }),
      released: settle(() => {
        if (isProbe) probing = false
      }),
    }
  }

  return {
    get state() {
      return currentState()
    },
    tryAcquire() {
      const state = currentState()
      if (state === 'closed') return lease(false)
      if (state === 'open' || probing) return undefined
      probing = true
      return lease(true)
    },
  }
}
