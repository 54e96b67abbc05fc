/** The breaker's promises, one by one. */

import { describe, expect, it } from 'vitest'
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitLease,
} from '../../../src/chokaq/kernel/circuit-breaker.js'

const openMs = 1_000

function breakerWithClock(failureThreshold = 3) {
  const clock = { ms: 0 }
  const breaker = createCircuitBreaker({ failureThreshold, openMs, now: () => clock.ms })
  return { breaker, clock }
}

function acquire(breaker: CircuitBreaker): CircuitLease {
  const lease = breaker.tryAcquire()
  if (lease === undefined) throw new Error('the breaker gave no lease')
  return lease
}

function fail(breaker: CircuitBreaker, times: number): void {
  for (let n = 0; n < times; n += 1) acquire(breaker).failed()
}

describe('a closed circuit', () => {
  it('opens at the threshold, not before', () => {
    const { breaker } = breakerWithClock()
    fail(breaker, 2)
    expect(breaker.state).toBe('closed')
    fail(breaker, 1)
    expect(breaker.state).toBe('open')
    expect(breaker.tryAcquire()).toBeUndefined()
  })

  it('counts failures in a row: a success begins anew, a release changes nothing', () => {
    const { breaker } = breakerWithClock()
    fail(breaker, 2)
    acquire(breaker).succeeded()
    fail(breaker, 2)
    acquire(breaker).released()
    expect(breaker.state).toBe('closed')
    fail(breaker, 1)
    expect(breaker.state).toBe('open')
  })

  it('lets any number try at once, and hears each of them once', () => {
    const { breaker } = breakerWithClock()
    const [first, second] = [acquire(breaker), acquire(breaker)]
    first.failed()
    first.failed()
    first.succeeded()
    second.failed()
    expect(breaker.state).toBe('closed')
    fail(breaker, 1)
    expect(breaker.state).toBe('open')
  })

  it('still hears a lease that was given before another’s success', () => {
    const { breaker } = breakerWithClock(2)
    const [first, second, third] = [acquire(breaker), acquire(breaker), acquire(breaker)]
    first.succeeded()
    second.failed()
    third.failed()
    expect(breaker.state).toBe('open')
  })
})

describe('an open circuit', () => {
  it('lets one probe through after its time, and only one', () => {
    const { breaker, clock } = breakerWithClock()
    fail(breaker, 3)
    clock.ms = openMs - 1
    expect(breaker.tryAcquire()).toBeUndefined()
    clock.ms = openMs
    expect(breaker.state).toBe('half-open')
    acquire(breaker)
    expect(breaker.tryAcquire()).toBeUndefined()
    expect(breaker.state).toBe('half-open')
  })

  it('closes when the probe succeeds, with no failures on the count', () => {
    const { breaker, clock } = breakerWithClock()
    fail(breaker, 3)
    clock.ms = openMs
    acquire(breaker).succeeded()
    expect(breaker.state).toBe('closed')
    fail(breaker, 2)
    expect(breaker.state).toBe('closed')
  })

  it('opens for its whole time again when the probe fails', () => {
    const { breaker, clock } = breakerWithClock()
    fail(breaker, 3)
    clock.ms = openMs + 500
    acquire(breaker).failed()
    clock.ms += openMs - 1
    expect(breaker.state).toBe('open')
    clock.ms += 1
    expect(breaker.state).toBe('half-open')
    acquire(breaker)
  })

  it('gives the slot to the next when the probe is released', () => {
    const { breaker, clock } = breakerWithClock()
    fail(breaker, 3)
    clock.ms = openMs
    const probe = acquire(breaker)
    probe.released()
    expect(breaker.state).toBe('half-open')
    acquire(breaker)
    // Settled already: must not free the slot of the probe that has it now.
    probe.released()
    expect(breaker.tryAcquire()).toBeUndefined()
  })

  it('ignores what an older generation reports, a late probe’s success above all', () => {
    const { breaker, clock } = breakerWithClock()
    const [early, late] = [acquire(breaker), acquire(breaker)]
    fail(breaker, 3)
    early.succeeded()
    expect(breaker.state).toBe('open')
    clock.ms = openMs
    late.failed()
    expect(breaker.state).toBe('half-open')
    const lost = acquire(breaker)
    lost.failed()
    lost.succeeded()
    expect(breaker.state).toBe('open')
  })
})
