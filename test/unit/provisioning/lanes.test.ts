/** Lanes and the feed they draw from: no row twice, none lost, nothing under way after the end. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCandidateFeed } from '../../../src/provisioning/candidate-feed.js'
import type { Candidate } from '../../../src/provisioning/candidates.js'
import { inLanes } from '../../../src/provisioning/lanes.js'

const candidate = (n: number): Candidate => ({
  id: String(n),
  dealId: `deal ${n}`,
  title: `Deal ${n}`,
  dealTenantId: null,
  status: 'Failed',
  attempts: 0,
  nextAttemptAt: `2026-01-01 00:00:${n}`,
  xmin: '1',
})
const idsUpTo = (n: number): string[] => Array.from({ length: n }, (_, index) => String(index))

/** A table of so many rows, read in batches as the database gives them, strictly after a row. */
function table(rows: number, batchSize: number) {
  const all = Array.from({ length: rows }, (_, n) => candidate(n))
  const reads: (string | undefined)[] = []
  let reading = 0
  let overlapped = false
  const readAfter = async (after: Candidate | undefined): Promise<Candidate[]> => {
    reads.push(after?.id)
    reading += 1
    if (reading > 1) overlapped = true
    await Promise.resolve()
    reading -= 1
    const from = after === undefined ? 0 : all.indexOf(after) + 1
    return all.slice(from, from + batchSize)
  }
  return { readAfter, reads, overlaps: () => overlapped }
}

const ignore = (): void => undefined

/** Turns of the microtask queue that an item takes. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve()
}

describe('a feed drawn from by lanes', () => {
  it('gives each row once, in order, whatever the sizes and however long each row takes', async () => {
    const size = fc.integer({ min: 1, max: 12 })
    await fc.assert(
      fc.asyncProperty(
        fc.nat(40),
        size,
        size,
        fc.infiniteStream(fc.nat(5)),
        async (rows, batchSize, lanes, durations) => {
          const { readAfter, reads, overlaps } = table(rows, batchSize)
          const batches: number[] = []
          const feed = createCandidateFeed(readAfter, ({ length }) => batches.push(length))
          const begun: string[] = []
          const done: string[] = []
          await inLanes(lanes, async () => {
            const row = await feed.next()
            if (row === undefined) return false
            begun.push(row.id)
            await turns(durations.next().value as number)
            done.push(row.id)
            return true
          })
          expect(begun).toEqual(idsUpTo(rows))
          expect(done.toSorted((a, b) => Number(a) - Number(b))).toEqual(idsUpTo(rows))
          // One read for each batch and one that finds nothing more, each after the last row.
          expect(reads).toHaveLength(Math.ceil(rows / batchSize) + 1)
          expect(new Set(reads).size).toBe(reads.length)
          expect(overlaps()).toBe(false)
          expect(await feed.next()).toBeUndefined()
          expect(batches.reduce((sum, length) => sum + length, 0)).toBe(rows)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('has the next batch read while one is worked off, and tells of each as it begins', async () => {
    const { readAfter, reads } = table(5, 3)
    const begun: string[][] = []
    const feed = createCandidateFeed(readAfter, (batch) => begun.push(batch.map(({ id }) => id)))
    expect(reads).toEqual([])
    expect((await feed.next())?.id).toBe('0')
    expect(reads).toEqual([undefined, '2'])
    for (const id of ['1', '2']) expect((await feed.next())?.id).toBe(id)
    expect([reads, begun]).toEqual([[undefined, '2'], [['0', '1', '2']]])
    expect((await feed.next())?.id).toBe('3')
    expect(reads).toEqual([undefined, '2', '4'])
    expect(begun).toEqual([
      ['0', '1', '2'],
      ['3', '4'],
    ])
  })

  it('reads again where the next batch could not be read while nobody waited for it', async () => {
    let reads = 0
    const feed = createCandidateFeed(() => {
      reads += 1
      if (reads === 2) return Promise.reject(new Error('the database is away'))
      return Promise.resolve(reads > 3 ? [] : [candidate(reads)])
    }, ignore)
    expect((await feed.next())?.id).toBe('1')
    await turns(5)
    expect(reads).toBe(2)
    expect((await feed.next())?.id).toBe('3')
    expect(await feed.next()).toBeUndefined()
  })

  it('tells all who wait of a read ahead that fails while they do, and reads once for it', async () => {
    const gone = new Error('the database is away')
    let fail: ((error: Error) => void) | undefined
    let reads = 0
    const feed = createCandidateFeed(() => {
      reads += 1
      if (reads === 2) return new Promise((_, reject) => (fail = reject))
      return Promise.resolve(reads === 1 ? [candidate(1)] : [])
    }, ignore)
    expect((await feed.next())?.id).toBe('1')
    const asked = Promise.allSettled([feed.next(), feed.next()])
    await turns(5)
    fail?.(gone)
    expect(await asked).toEqual(Array(2).fill({ status: 'rejected', reason: gone }))
    expect(reads).toBe(2)
    expect(await feed.next()).toBeUndefined()
  })

  it('tells all who wait of a read that fails, and can be asked again', async () => {
    const gone = new Error('the database is away')
    let reads = 0
    const feed = createCandidateFeed(() => {
      reads += 1
      return reads === 1 ? Promise.reject(gone) : Promise.resolve(reads === 2 ? [candidate(7)] : [])
    }, ignore)
    const asked = await Promise.allSettled([feed.next(), feed.next(), feed.next()])
    expect(asked).toEqual(Array(3).fill({ status: 'rejected', reason: gone }))
    expect(reads).toBe(1)
    expect((await feed.next())?.id).toBe('7')
    expect(await feed.next()).toBeUndefined()
  })
})

describe('lanes', () => {
  it('are as many at once as asked for', async () => {
    let running = 0
    let most = 0
    let left = 20
    await inLanes(4, async () => {
      if (left-- <= 0) return false
      running += 1
      most = Math.max(most, running)
      await turns(3)
      running -= 1
      return true
    })
    expect(most).toBe(4)
    expect(running).toBe(0)
  })

  it('end one by one, each where nothing is left for it', async () => {
    let calls = 0
    await inLanes(3, () => Promise.resolve(++calls % 2 === 0))
    // The first and the third end at once, the second at its next turn.
    expect(calls).toBe(5)
  })

  it('end together when one fails: each item under way is finished, none is begun', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.nat(30),
        fc.infiniteStream(fc.nat(5)),
        async (lanes, failing, durations) => {
          const fault = new Error('the item’s own')
          let begun = 0
          let underWay = 0
          let begunAtFailure: number | undefined
          const run = inLanes(lanes, async () => {
            const item = begun++
            underWay += 1
            await turns(durations.next().value as number)
            underWay -= 1
            if (item === failing) {
              begunAtFailure = begun
              throw fault
            }
            return true
          })
          await expect(run).rejects.toBe(fault)
          expect(underWay).toBe(0)
          // A lane may be between two items at that very moment; none begins a second one.
          expect(begun - (begunAtFailure ?? 0)).toBeLessThan(lanes)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('that fail several at once throw one of their errors, after all have stopped', async () => {
    let settled = 0
    const run = inLanes(3, async () => {
      await turns(2)
      settled += 1
      throw new Error(`lane ${settled}`)
    })
    await expect(run).rejects.toThrow(/^lane [123]$/)
    expect(settled).toBe(3)
  })

  it('stand a throw that is no rejection', async () => {
    const fault = new Error('at once')
    await expect(
      inLanes(2, () => {
        throw fault
      }),
    ).rejects.toBe(fault)
  })
})
