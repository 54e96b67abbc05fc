/** How much is fetched ahead: free lanes, and what the present pace will begin within a second. */

import { describe, expect, it } from 'vitest'
import type { FetchedJob } from '../../../src/chokaq/jobs/job.js'
import { createConcurrencyLimiter } from '../../../src/chokaq/kernel/concurrency-limiter.js'
import { createPace } from '../../../src/chokaq/worker/pace.js'
import { createPrefetch } from '../../../src/chokaq/worker/prefetch.js'

const jobs = (count: number) => Array.from({ length: count }, () => ({}) as FetchedJob)

function create({ lanes = 4, batchSize = 20, perSecond = 0 } = {}) {
  const limiter = createConcurrencyLimiter(lanes)
  const pace = { ended: () => undefined, perSecond: () => perSecond }
  return { limiter, prefetch: createPrefetch({ limiter, pace, batchSize }) }
}

describe('fetching ahead', () => {
  it('asks for the free lanes only, where the lanes hold long work', () => {
    const { limiter, prefetch } = create()
    expect(prefetch.wanted()).toBe(4)
    const permits = Array.from({ length: 4 }, () => limiter.tryAcquire())
    expect(prefetch.wanted()).toBe(0)
    permits[0]?.release()
    expect(prefetch.wanted()).toBe(1)
  })

  it('asks for as many more as the pace will begin, at most a batch, by half batches', () => {
    expect(create({ perSecond: 7 }).prefetch.wanted()).toBe(11)
    const { prefetch } = create({ perSecond: 5_000 })
    expect(prefetch.wanted()).toBe(20)
    prefetch.add(jobs(11), 0)
    expect(prefetch.wanted()).toBe(0)
    prefetch.next()
    expect(prefetch.wanted()).toBe(10)
  })

  it('lets in as many as there are free lanes, and more where runs are shorter than a round trip', () => {
    for (const [perSecond, entering] of [
      [0, 4],
      [80, 4],
      [81, 24],
      [100_000, 24],
    ] as const) {
      const { prefetch } = create({ perSecond })
      prefetch.add(jobs(30), 0)
      let entered = 0
      while (prefetch.next() !== undefined) entered += 1
      expect(entered).toBe(entering)
      prefetch.entered()
      expect(prefetch.next()).toBeDefined()
    }
  })

  it('gives all that wait back at the end', () => {
    const { prefetch } = create()
    prefetch.add(jobs(6), 5)
    prefetch.next()
    expect(prefetch.drain()).toHaveLength(5)
    expect(prefetch.drain()).toEqual([])
    expect(prefetch.next()).toBeUndefined()
  })
})

describe('the pace', () => {
  it('is what ended in the last second or in this one, and nothing after a pause', () => {
    let now = 0
    const pace = createPace(() => now)
    for (let n = 0; n < 5; n += 1) pace.ended()
    expect(pace.perSecond()).toBe(5)
    now = 1_000
    expect(pace.perSecond()).toBe(5)
    for (let n = 0; n < 8; n += 1) pace.ended()
    expect(pace.perSecond()).toBe(8)
    now = 3_500
    expect(pace.perSecond()).toBe(0)
  })
})
