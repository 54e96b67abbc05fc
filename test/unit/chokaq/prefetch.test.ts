/** How much is fetched ahead: free lanes, and what the present pace will begin within a second. */

import { describe, expect, it } from 'vitest'
import type { FetchedJob } from '../../../src/chokaq/jobs/job.js'
import { createConcurrencyLimiter } from '../../../src/chokaq/kernel/concurrency-limiter.js'
import { createPace } from '../../../src/chokaq/worker/pace.js'
import { createPrefetch } from '../../../src/chokaq/worker/prefetch.js'

const started = { attempt: 1, timeoutMs: undefined, zombieTimeoutMs: undefined }
const jobs = (count: number, areStarted = false) =>
  Array.from({ length: count }, () => ({ ...(areStarted && { started }) }) as FetchedJob)

function create({ lanes = 4, batchSize = 20, perSecond = 0, lately = 100_000 } = {}) {
  const limiter = createConcurrencyLimiter(lanes)
  const pace = { ended: () => undefined, perSecond: () => perSecond, lately: () => lately }
  return { limiter, prefetch: createPrefetch({ limiter, pace, batchSize }) }
}

describe('fetching ahead', () => {
  it('asks for the free lanes only, where the lanes hold long work', () => {
    const { limiter, prefetch } = create()
    expect(prefetch.wanted()).toEqual({ jobs: 4, start: false })
    const permits = Array.from({ length: 4 }, () => limiter.tryAcquire())
    expect(prefetch.wanted()).toEqual({ jobs: 0, start: false })
    permits[0]?.release()
    expect(prefetch.wanted()).toEqual({ jobs: 1, start: false })
  })

  it('asks for as many more as the pace will begin, at most a batch, by half batches', () => {
    expect(create({ perSecond: 7 }).prefetch.wanted()).toEqual({ jobs: 11, start: false })
    const { prefetch } = create({ perSecond: 80 })
    expect(prefetch.wanted()).toEqual({ jobs: 20, start: false })
    prefetch.add(jobs(11), 0)
    expect(prefetch.wanted().jobs).toBe(0)
    prefetch.next()
    expect(prefetch.wanted().jobs).toBe(10)
  })

  it('asks for started ones where runs are shorter than a round trip, as many as may be ahead', () => {
    const { prefetch } = create({ perSecond: 5_000 })
    expect(prefetch.wanted()).toEqual({ jobs: 20, start: true })
    const take = (): void => {
      prefetch.add(jobs(20, true), 0)
      while (prefetch.next() !== undefined);
    }
    take()
    expect(prefetch.wanted()).toEqual({ jobs: 20, start: true })
    take()
    expect(prefetch.wanted()).toEqual({ jobs: 0, start: true })
    for (let n = 0; n < 16; n += 1) prefetch.entered()
    expect(prefetch.wanted()).toEqual({ jobs: 20, start: true })
  })

  it('starts nothing over those that wait unstarted', () => {
    const { prefetch } = create({ perSecond: 5_000 })
    prefetch.add(jobs(1), 0)
    expect(prefetch.wanted().start).toBe(false)
  })

  it('lets in what is started, whatever the lanes do', () => {
    const { prefetch } = create({ perSecond: 0 })
    prefetch.add(jobs(30, true), 0)
    let entered = 0
    while (prefetch.next() !== undefined) entered += 1
    expect(entered).toBe(30)
  })

  it('lets in as many as there are free lanes, and more where runs are shorter than a round trip', () => {
    for (const [perSecond, entering] of [
      [0, 4],
      [80, 4],
      [81, 44],
      [100_000, 44],
    ] as const) {
      const { prefetch } = create({ perSecond })
      prefetch.add(jobs(60), 0)
      let entered = 0
      while (prefetch.next() !== undefined) entered += 1
      expect(entered).toBe(entering)
      prefetch.entered()
      expect(prefetch.next()).toBeDefined()
    }
  })

  it('starts no more ahead than have been seen to end', () => {
    const { prefetch } = create({ perSecond: 5_000, lately: 3 })
    prefetch.add(jobs(30), 0)
    let entered = 0
    while (prefetch.next() !== undefined) entered += 1
    expect(entered).toBe(7)
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
  const lanes = 10
  const quick = 0.1

  function create() {
    const clock = { ms: 0 }
    const pace = createPace(() => clock.ms)
    const end = (runs: number, runMs: number): void => {
      for (let n = 0; n < runs; n += 1) pace.ended(runMs)
    }
    return { clock, end, perSecond: () => pace.perSecond(lanes), lately: () => pace.lately() }
  }

  it('is what has ended in the last second, and nothing after a pause', () => {
    const { clock, end, perSecond } = create()
    expect(perSecond()).toBe(0)
    end(5, quick)
    clock.ms = 1_000
    expect(perSecond()).toBe(5)
    clock.ms = 3_500
    expect(perSecond()).toBe(0)
  })

  it('is known from the first quick runs on, however long nothing ran before', () => {
    const { clock, end, perSecond, lately } = create()
    clock.ms = 700
    end(10, quick)
    expect(perSecond()).toBe(500)
    expect(lately()).toBe(10)
    clock.ms = 800
    end(90, quick)
    expect(perSecond()).toBe(1_000)
  })

  it('is no more than the lanes can do, where long runs end together', () => {
    const { end, perSecond } = create()
    end(100, 1_000)
    expect(perSecond()).toBeCloseTo(lanes, 5)
  })

  it('is none where there are no lanes', () => {
    const pace = createPace(() => 0)
    pace.ended(0)
    expect(pace.perSecond(0)).toBe(0)
    expect(pace.perSecond(1)).toBe(50)
  })

  it('falls as soon as runs become long', () => {
    const { end, perSecond } = create()
    end(1_000, quick)
    expect(perSecond()).toBe(50_000)
    end(10, 500)
    expect(perSecond()).toBeLessThan(30)
  })
})
