/** The waits between runs: the formula, its bounds for any number of runs, and the spread of many. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, type BackoffPolicy } from '../../../src/chokaq/kernel/backoff.js'
import { loadConfig } from '../../../src/config/load-config.js'

/** The options' defaults. */
const policy: BackoffPolicy = { baseMs: 60_000, factor: 2, capMs: 900_000, jitter: 0.2 }
const withoutJitter = { ...policy, jitter: 0 }

const noChance = (): number => 0
/** The largest number that Math.random gives. */
const fullChance = (): number => 1 - Number.EPSILON / 2

const maxAttempts = 2 ** 31 - 1
const anyAttempts = fc.oneof(
  fc.integer({ min: 1, max: 64 }),
  fc.integer({ min: 1, max: maxAttempts }),
)
const anyPolicy: fc.Arbitrary<BackoffPolicy> = fc
  .record({
    baseMs: fc.integer({ min: 1, max: 86_400_000 }),
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    overBase: fc.integer({ min: 0, max: 86_400_000 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ overBase, ...rest }) => ({ ...rest, capMs: rest.baseMs + overBase }))
const anyChance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the wait', () => {
  it('is base after the first run, then grows by factor up to the cap', () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7].map(
      (attempts) => backoffMs(withoutJitter, attempts, fullChance) / 60_000,
    )
    expect(minutes).toEqual([1, 2, 4, 8, 15, 15, 15])
  })

  it('before any run is base, too', () => {
    expect(backoffMs(withoutJitter, 0, noChance)).toBe(60_000)
  })

  it('is shortened by chance, by the jitter’s share at most, and never lengthened', () => {
    expect(backoffMs(policy, 3, noChance)).toBe(240_000)
    expect(backoffMs(policy, 3, () => 0.5)).toBe(216_000)
    expect(backoffMs(policy, 3, fullChance)).toBeCloseTo(192_000, 6)
    expect(backoffMs({ ...policy, jitter: 1 }, 3, () => 0.75)).toBe(60_000)
  })

  it.each([40, 5_000, 2_147_483_646, maxAttempts])(
    'P2 after %d runs is within the cap',
    (attempts) => {
      expect(backoffMs(policy, attempts, noChance)).toBe(900_000)
      expect(backoffMs({ ...policy, factor: 1 }, attempts, noChance)).toBe(60_000)
      const waits = [
        backoffMs(policy, attempts, Math.random),
        backoffMs(policy, attempts, fullChance),
      ]
      for (const wait of waits) {
        expect(wait).toBeGreaterThanOrEqual(720_000)
        expect(wait).toBeLessThanOrEqual(900_000)
      }
    },
  )

  it('P2 lies in [(1 - jitter) * d, d] and is finite, whatever the policy and the runs', () => {
    fc.assert(
      fc.property(anyPolicy, anyAttempts, anyChance, (any, attempts, chance) => {
        const most = backoffMs({ ...any, jitter: 0 }, attempts, noChance)
        const wait = backoffMs(any, attempts, () => chance)
        expect(most).toBeGreaterThanOrEqual(any.baseMs)
        expect(most).toBeLessThanOrEqual(any.capMs)
        expect(wait).toBeLessThanOrEqual(most)
        // Below by no more than the last bits of a double.
        expect(wait).toBeGreaterThanOrEqual((1 - any.jitter) * most * (1 - 1e-12))
      }),
    )
  })

  it('never shrinks from one run to the next, before jitter', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: maxAttempts - 1 }), (any, attempts) => {
        const plain = { ...any, jitter: 0 }
        expect(backoffMs(plain, attempts + 1, noChance)).toBeGreaterThanOrEqual(
          backoffMs(plain, attempts, noChance),
        )
      }),
    )
  })
})

describe('P3 a retry storm', () => {
  it('can’t be asked for: a base of 0 is refused at the start', () => {
    const env = {
      DATABASE_URL: 'postgres://svc@db/app',
      OUTBOX_RELAY: 'off',
      CHAT_PROVISION_RETRY_BACKOFF_BASE: '0s',
    }
    expect(() => loadConfig(env, { database: true, kafka: false, http: false })).toThrow(
      /CHAT_PROVISION_RETRY_BACKOFF_BASE must be a duration above 0/,
    )
  })

  it.each([1, 2, 5, 40])(
    'does not come of 1,000 rows that failed in one instant, %d runs each: they spread',
    (attempts) => {
      const random = seededRandom(attempts)
      const most = backoffMs(withoutJitter, attempts, noChance)
      const perTwentieth = Array<number>(20).fill(0)
      for (let row = 0; row < 1_000; row += 1) {
        const early = (most - backoffMs(policy, attempts, random)) / (most * policy.jitter)
        const twentieth = Math.floor(early * 20)
        perTwentieth[twentieth] = (perTwentieth[twentieth] ?? 0) + 1
      }
      // An even chance gives 50 to each, and a standard deviation of 7.
      expect(perTwentieth).toHaveLength(20)
      expect(Math.max(...perTwentieth)).toBeLessThan(80)
      expect(Math.min(...perTwentieth)).toBeGreaterThan(20)
    },
  )
})

/** mulberry32: even enough to count with, and the same for the same seed. */
function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
