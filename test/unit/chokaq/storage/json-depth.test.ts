/** The depth of a JSON text, without being fooled by what its strings hold. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonDepth } from '../../../../src/chokaq/jobs/json-depth.js'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

it('is that of the value it stands for', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(jsonDepth(JSON.stringify(value, null, 1))).toBe(depthOf(value))
    }),
  )
})

it.each([
  ['"[[[["', 0],
  ['["\\"[[", "\\\\", [1]]', 2],
  ['{"a]": [{}]}', 3],
])('of %s is %d', (json, depth) => {
  expect(jsonDepth(json)).toBe(depth)
})
