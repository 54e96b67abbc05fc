/**
 * How many may work at once, changeable while they do: raising the limit lets waiters in at once;
 * lowering it stops nobody, the next ones wait until enough have left.
 *
 * First come, first served. A permit is an object that can be given back only once, so a release too
 * many can't let in one too many.
 */

export interface Permit {
  /** Later calls do nothing. */
  release(): void
}

export interface ConcurrencyLimiter {
  /** ≥ 0; 0 lets nobody in. */
  readonly limit: number
  /** Permits out now; above `limit` for a while after it was lowered. */
  readonly active: number
  readonly waiting: number
  /** Places free now, ≥ 0; none while somebody waits. */
  readonly free: number
  /** A permit, or undefined where there is none free or others wait for one. */
  tryAcquire(): Permit | undefined
  /** Waits for a permit. Rejects with the signal's reason when that is aborted first. */
  acquire(signal?: AbortSignal): Promise<Permit>
  /** @throws RangeError unless it is a whole number ≥ 0 */
  setLimit(limit: number): void
}

interface Waiter {
  readonly signal: AbortSignal | undefined
  readonly resolve: (permit: Permit) => void
  readonly reject: (reason: Error) => void
}

export function createConcurrencyLimiter(initialLimit: number): ConcurrencyLimiter {
  let limit = checked(initialLimit)
  let active = 0
  // A Set keeps the order of arrival and lets one in the middle go away at no cost.
  const waiters = new Set<Waiter>()
  const heard = new WeakSet<AbortSignal>()

  /** Once for each signal: thousands may wait under one, and a listener costs more than the wait. */
  const hear = (signal: AbortSignal): void => {
    if (heard.has(signal)) return
    heard.add(signal)
    const turnAway = (): void => {
      for (const waiter of waiters) {
        if (waiter.signal !== signal) continue
        waiters.delete(waiter)
        waiter.reject(signal.reason as Error)
      }
    }
    signal.addEventListener('abort', turnAway, { once: true })
  }

  const leave = (): void => {
    active -= 1
    admit()
  }

  const permit = (): Permit => {
    active += 1
    return new OncePermit(leave)
  }

  const admit = (): void => {
    for (const waiter of waiters) {
      if (active >= limit) return
      waiters.delete(waiter)
      waiter.resolve(permit())
    }
  }

  // Who waits is let in as soon as there is room, so room means that nobody waits.
  const tryAcquire = (): Permit | undefined => (active < limit ? permit() : undefined)

  return {
    get limit() {
      return limit
    },
    get active() {
      return active
    },
    get waiting() {
      return waiters.size
    },
    get free() {
      return Math.max(0, limit - active)
    },
    tryAcquire,
    acquire(signal) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted()
        const got = tryAcquire()
        if (got !== undefined) {
          resolve(got)
          return
        }
        waiters.add({ signal, resolve, reject })
        if (signal !== undefined) hear(signal)
      })
    },
    setLimit(next) {
      limit = checked(next)
      admit()
    },
  }
}

class OncePermit implements Permit {
  #leave: (() => void) | undefined

  constructor(leave: () => void) {
    this.#leave = leave
  }

  release(): void {
    const leave = this.#leave
    this.#leave = undefined
    leave?.()
  }
}

function checked(limit: number): number {
  if (Number.isInteger(limit) && limit >= 0) return limit
  throw new RangeError(`A concurrency limit is a whole number from 0 up, not ${limit}`)
}
