/** Ids: version 7, never twice, rising. */

import { expect, it } from 'vitest'
import { uuidv7 } from '../../src/uuid.js'

it('gives ids of version 7 that rise, over many draws of chance', () => {
  const before = Date.now()
  const ids = Array.from({ length: 5_000 }, uuidv7)
  const after = Date.now()
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const ms = Number.parseInt(id.slice(0, 13).replace('-', ''), 16)
    expect(ms).toBeGreaterThanOrEqual(before)
    // A counter that runs over borrows from the millisecond after.
    expect(ms).toBeLessThanOrEqual(after + 1)
  }
  // What isn't time or counter is chance.
  expect(new Set(ids.map((id) => id.slice(-8))).size).toBeGreaterThan(4_990)
})
