/** Cutting a batch: nothing lost, nothing reordered, nothing too large. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inSendableBatches } from '../../../src/outbox/sendable-batches.js'

const item = fc.record({
  row: fc.record({ topic: fc.constantFrom('a', 'b') }),
  message: fc.record({
    key: fc.uuid(),
    headers: fc.constant({ ce_id: 'x' }),
    value: fc.nat(300_000).map((length) => 'x'.repeat(length)),
    timestampMs: fc.constant(0),
  }),
})

test('keeps every item, per topic in order, and no batch of several above half a megabyte', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 12 }), (items) => {
      const batches = inSendableBatches(items)
      for (const topic of ['a', 'b']) {
        const sent = batches.filter((batch) => batch.topic === topic).flatMap(({ batch }) => batch)
        expect(sent).toEqual(items.filter(({ row }) => row.topic === topic))
      }
      for (const { topic, batch } of batches) {
        expect(batch.every(({ row }) => row.topic === topic)).toBe(true)
        const bytes = batch.reduce((sum, { message }) => sum + message.value.length, 0)
        expect(batch.length === 1 || bytes <= 512 * 1024).toBe(true)
      }
    }),
    { numRuns: 50 },
  )
})
