/** One circuit per job type, so that a broken dependency stops only those who need it. */

import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitLease,
  type CircuitState,
} from '../kernel/circuit-breaker.js'
import type { MonotonicClock } from '../ports.js'
import type { BreakerOptions } from './worker-options.js'

export interface CircuitBreakers {
  /** A lease, or undefined while the type's circuit is open. */
  tryAcquire(typeKey: string): CircuitLease | undefined
  /** Of the types that have run here. */
  states(): ReadonlyMap<string, CircuitState>
}

export function createCircuitBreakers(
  options: BreakerOptions,
  now: MonotonicClock,
): CircuitBreakers {
  // Only types with a handler come here, so there are as many as definitions.
  const breakers = new Map<string, CircuitBreaker>()
  return {
    tryAcquire(typeKey) {
      let breaker = breakers.get(typeKey)
      if (breaker === undefined) {
        breaker = createCircuitBreaker({ ...options, now })
        breakers.set(typeKey, breaker)
      }
      return breaker.tryAcquire()
    },
    states: () => new Map([...breakers].map(([typeKey, { state }]) => [typeKey, state])),
  }
}
