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

interface Opening {
  readonly at: number
  /** Its one probe is under way. */
  probing: boolean
}

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  let generation = 0
  let consecutiveFailures = 0
  let opened: Opening | undefined

  const isOpen = ({ at }: Opening): boolean => options.now() - at < options.openMs

  const effects: CircuitLease = {
    succeeded() {
      opened = undefined
      consecutiveFailures = 0
    },
    failed() {
      // Opening leaves the count as it is, so a probe that fails opens the circuit at once.
      consecutiveFailures += 1
      if (consecutiveFailures < options.failureThreshold) return
      opened = { at: options.now(), probing: false }
      generation += 1
    },
    released() {
      if (opened !== undefined) opened.probing = false
    },
  }

  const settle = (leased: number, effect: keyof CircuitLease): void => {
    if (leased === generation) effects[effect]()
  }

  const lease = (): CircuitLease => new OnceLease(generation, settle)

  return {
    get state() {
      if (opened === undefined) return 'closed'
      return isOpen(opened) ? 'open' : 'half-open'
    },
    tryAcquire() {
      if (opened === undefined) return lease()
      if (isOpen(opened) || opened.probing) return undefined
      opened.probing = true
      return lease()
    },
  }
}

class OnceLease implements CircuitLease {
  readonly #generation: number
  #settle: ((generation: number, effect: keyof CircuitLease) => void) | undefined

  constructor(
    generation: number,
    settle: (generation: number, effect: keyof CircuitLease) => void,
  ) {
    this.#generation = generation
    this.#settle = settle
  }

  succeeded(): void {
    this.#end('succeeded')
  }

  failed(): void {
    this.#end('failed')
  }

  released(): void {
    this.#end('released')
  }

  #end(effect: keyof CircuitLease): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(this.#generation, effect)
  }
}
