/** What has been counted: per second, summed up by wider steps, and in total for ever. */

import { expect, test } from 'vitest'
import { describeStorages, newJob, putRunning, single } from './storages.js'

describeStorages('The counts', (get) => {
  test('folds old buckets into the totals, which never change by it', async () => {
    const { storage, advance } = get()
    const run = async (queue: string): Promise<void> => {
      const lease = await putRunning(storage, { queue })
      await storage.succeed([{ lease, durationMs: 40 }])
    }
    for (const queue of ['a', 'b', 'a']) await run(queue)
    await advance(3_600_000)
    await run('a')
    const failed = await putRunning(storage, { queue: 'a' })
    await storage.retry([{ lease: failed, delayMs: 0, error: 'x' }])
    const expected = [
      { queue: 'a', succeeded: 3, failed: 0, retried: 1 },
      { queue: 'b', succeeded: 1, failed: 0, retried: 0 },
    ]
    expect(await storage.totals()).toEqual(expected)
    const fold = { olderThanMs: 600_000, limit: 1 }
    let folded = 0
    for (let got = 1; got > 0; folded += got) {
      got = await storage.foldMetrics(fold)
      expect(await storage.totals()).toEqual(expected)
    }
    expect(folded).toBeGreaterThanOrEqual(2)
    const left = await storage.metricBuckets(7_200_000)
    expect(left.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(1)
  })

  test('a bucket has what ended in one second of one queue', async () => {
    const { storage } = get()
    const now = await storage.now()
    await storage.enqueue([newJob(), newJob()])
    const leases = (await storage.fetch({ owner: 'w', limit: 2 })).map(({ lease }) => lease)
    await storage.start(leases)
    await storage.succeed(leases.map((lease, n) => ({ lease, durationMs: 10 + n })))
    const bucket = single(await storage.metricBuckets(60_000))
    expect(bucket).toMatchObject({
      queue: 'q',
      succeeded: 2,
      failed: 0,
      retried: 0,
      durationMs: 21,
    })
    expect(bucket.atMs % 1_000).toBe(0)
    expect(Math.abs(bucket.atMs - now)).toBeLessThan(30_000)
    expect(await storage.metricBuckets(-60_000)).toEqual([])
  })

  test('buckets are summed up by steps, each queue for itself', async () => {
    const { storage, advance } = get()
    async function run(queue: string): Promise<void> {
      const lease = await putRunning(storage, { queue })
      await storage.succeed([{ lease, durationMs: 5 }])
    }
    for (const queue of ['a', 'b', 'a']) await run(queue)
    await advance(3_600_000)
    await run('a')
    const day = 86_400_000
    const seconds = await storage.metricBuckets(2 * day)
    expect(seconds.length).toBeGreaterThan(1)
    for (const stepMs of [60_000, 3_600_000, day]) {
      const expected = new Map<string, number>()
      for (const { atMs, queue, succeeded } of seconds) {
        const key = `${Math.floor(atMs / stepMs) * stepMs} ${queue}`
        expected.set(key, (expected.get(key) ?? 0) + succeeded)
      }
      const steps = await storage.metricBuckets(2 * day, stepMs)
      const sums = steps.map(({ atMs, queue, succeeded }) => [`${atMs} ${queue}`, succeeded])
      expect(sums).toHaveLength(expected.size)
      expect(new Map(sums as [string, number][])).toEqual(expected)
      expect(steps.reduce((sum, { durationMs }) => sum + durationMs, 0)).toBe(20)
    }
  })
})
