/** Random sequences of calls: PostgreSQL answers as the storage in memory does, which is small enough to read. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryStorage } from '../../../../src/chokaq/storage/memory/memory-storage.js'
import { anyCall, type Call } from './model-calls.js'
import { ModelSide } from './model-side.js'
import { usePostgresStorage } from './storages.js'

const postgres = usePostgresStorage()

const enqueue: Call = { kind: 'enqueue', queue: 'a', priority: 10, key: 5 }
const fetch: Call = { kind: 'fetch', owner: 'w1', limit: 2, start: false }

/** What chance meets rarely: jobs that are due in the reverse order of their ids. */
const overtaken: readonly (readonly Call[])[] = [
  [enqueue, fetch, { kind: 'start', lease: 0 }, enqueue, { kind: 'retry', lease: 0 }, fetch],
  [
    ...[enqueue, enqueue, fetch, { kind: 'start', lease: 0 }, { kind: 'start', lease: 1 }],
    ...[{ kind: 'retry', lease: 0 }, { kind: 'retry', lease: 1 }, fetch],
  ] as const,
]

test('PostgreSQL and memory answer alike, and end with the same jobs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCall, { minLength: 20, maxLength: 60 }), async (calls) => {
      await postgres().empty()
      let nowMs = 1_800_000_000_000
      const advance = (ms: number): Promise<void> => {
        nowMs += ms
        return Promise.resolve()
      }
      const storage = createMemoryStorage({ now: () => nowMs, capacity: 1_000 })
      const memory = new ModelSide({ storage, advance })
      const real = new ModelSide(postgres())
      for (const call of calls) expect(await real.answer(call)).toEqual(await memory.answer(call))
      expect(await real.everything()).toEqual(await memory.everything())
    }),
    { numRuns: 25, examples: overtaken.map((calls) => [[...calls]]) },
  )
})
