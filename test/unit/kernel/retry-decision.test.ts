/** What becomes of a failed run: each kind by name, and what holds for any run and policy. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countsForBreaker,
  failureReasons,
  isFatal,
  type FailureKind,
} from '../../../src/chokaq/kernel/failure.js'
import {
  decidePostponement,
  decideRetry,
  type RetryPolicy,
} from '../../../src/chokaq/kernel/retry-decision.js'

const policy: RetryPolicy = {
  backoff: { baseMs: 1_000, factor: 2, capMs: 60_000, jitter: 0 },
  maxAttempts: 3,
  maxAgeMs: 3_600_000,
}
const noChance = (): number => 0
const kinds = [
  'transient',
  'throttled',
  'timeout',
  'fatal',
  'invalid-payload',
  'unknown-type',
] as const satisfies FailureKind[]

describe('a failed run', () => {
  it.each([
    ['transient', 'MaxRetriesExceeded', true],
    ['throttled', 'Throttled', true],
    ['timeout', 'Timeout', true],
    ['fatal', 'FatalError', false],
    ['invalid-payload', 'InvalidPayload', false],
    ['unknown-type', 'UnknownType', false],
  ] as const)('%s ends as %s; counts for the breaker: %s', (kind, reason, counts) => {
    const last = { kind, attempts: policy.maxAttempts, ageMs: 0 }
    expect(decideRetry(last, policy, noChance)).toEqual({ kind: 'dead-letter', reason })
    expect(failureReasons).toContain(reason)
    expect(countsForBreaker(kind)).toBe(counts)
    expect(isFatal(kind)).toBe(!counts)
    expect(decideRetry({ ...last, attempts: 1 }, policy, noChance).kind).toBe(
      counts ? 'retry' : 'dead-letter',
    )
  })

  it('waits base after the first run, and twice as long after the second', () => {
    const after = (attempts: number) =>
      decideRetry({ kind: 'transient', attempts, ageMs: 0 }, policy, noChance)
    expect(after(1)).toEqual({ kind: 'retry', delayMs: 1_000 })
    expect(after(2)).toEqual({ kind: 'retry', delayMs: 2_000 })
  })

  it('waits as long as the dependency asks, but never shorter than the backoff', () => {
    const asked = (retryAfterMs: number) =>
      decideRetry({ kind: 'throttled', attempts: 1, ageMs: 0, retryAfterMs }, policy, noChance)
    expect(asked(90_000)).toEqual({ kind: 'retry', delayMs: 90_000 })
    expect(asked(10)).toEqual({ kind: 'retry', delayMs: 1_000 })
  })

  it('is the last one where the job would be too old at the next', () => {
    const aged = (ageMs: number) =>
      decideRetry({ kind: 'transient', attempts: 1, ageMs }, policy, noChance)
    expect(aged(3_599_000)).toEqual({ kind: 'retry', delayMs: 1_000 })
    expect(aged(3_599_001)).toEqual({ kind: 'dead-letter', reason: 'RetryLifetimeExpired' })
  })

  it('never waits beyond the age, nor runs more often than allowed, whatever happens', () => {
    const anyRun = fc.record({
      kind: fc.constantFrom(...kinds),
      attempts: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      ageMs: fc.double({ min: 0, max: 1e13, noNaN: true }),
      retryAfterMs: fc.option(fc.double({ min: 0, max: 1e12, noNaN: true }), { nil: undefined }),
    })
    const anyLimits = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      maxAgeMs: fc.double({ min: 0, max: 1e13, noNaN: true }),
    })
    fc.assert(
      fc.property(anyRun, anyLimits, fc.double({ min: 0, max: 0.999, noNaN: true }), (...args) => {
        const [run, limits, chance] = args
        const decision = decideRetry(run, { ...policy, ...limits }, () => chance)
        if (decision.kind === 'dead-letter') return
        expect(isFatal(run.kind)).toBe(false)
        expect(run.attempts).toBeLessThan(limits.maxAttempts)
        expect(run.ageMs + decision.delayMs).toBeLessThanOrEqual(limits.maxAgeMs)
        expect(decision.delayMs).toBeGreaterThanOrEqual(run.retryAfterMs ?? 0)
      }),
    )
  })
})

describe('a job that an open circuit holds back', () => {
  const held = (attempts: number, ageMs: number) =>
    decidePostponement({ attempts, ageMs, delayMs: 5_000 }, policy)

  it('waits without any attempt, until it is too old', () => {
    expect(held(1, 0)).toEqual({ kind: 'retry', delayMs: 5_000 })
    expect(held(1, 3_595_000)).toEqual({ kind: 'retry', delayMs: 5_000 })
    expect(held(1, 3_595_001)).toEqual({ kind: 'dead-letter', reason: 'CircuitBreakerOpen' })
  })

  it('is never too old for its first run', () => {
    expect(held(0, 1e12)).toEqual({ kind: 'retry', delayMs: 5_000 })
  })
})
