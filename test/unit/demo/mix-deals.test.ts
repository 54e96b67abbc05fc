/** Which deals the demo feeds: each kind at least once where there is room, one victim, in order. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { dealKinds } from '../../../src/demo/deal-kinds.js'
import { mixDeals } from '../../../src/demo/mix-deals.js'

it('feeds exactly as many as asked for, the first kinds, then each kind at least once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), (count) => {
      const deals = mixDeals(count)
      expect(deals).toHaveLength(count)
      const fed = new Set(deals.map(({ kind }) => kind))
      const first = dealKinds.slice(0, Math.min(count, dealKinds.length))
      expect(fed).toEqual(new Set(first.map(({ name }) => name)))
      expect(new Set(deals.map(({ dealId }) => dealId)).size).toBe(count)
    }),
    { numRuns: 20 },
  )
})

it('has one deal over which the worker is killed, in the middle of what is due', () => {
  const due = mixDeals(200)
    .filter(({ row }) => row.dueInSeconds < 0)
    .sort((a, b) => a.row.dueInSeconds - b.row.dueInSeconds)
  const victims = due.flatMap(({ scene }, index) => (scene === 'worker is killed' ? [index] : []))
  expect(victims).toHaveLength(1)
  expect(victims[0]).toBeGreaterThan(due.length * 0.4)
  expect(victims[0]).toBeLessThan(due.length * 0.6)
})

it('mixes the same way at every run', () => {
  const kinds = (): string[] => mixDeals(120).map(({ kind }) => kind)
  expect(kinds()).toEqual(kinds())
})
