/** The in-memory storage is bounded: history goes first, live work never. */

import { expect, test } from 'vitest'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import { createMemoryMetrics } from '../../../../src/chokaq/storage/memory/memory-metrics.js'
import { createMemoryStorage } from '../../../../src/chokaq/storage/memory/memory-storage.js'

const job = { type: 't', queue: 'q', payload: '1' }

async function end(storage: JobStorage, how: 'succeed' | 'die'): Promise<string> {
  await storage.enqueue([{ ...job, priority: 100 }])
  const [fetched] = await storage.fetch({ owner: 'w', limit: 1 })
  if (fetched === undefined) throw new Error('nothing to fetch')
  const { lease } = fetched
  await storage.start([lease])
  if (how === 'succeed') await storage.succeed([{ lease, durationMs: 1 }])
  else await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
  return lease.jobId
}

const ids = async (storage: JobStorage, place: 'hot' | 'archive' | 'dlq') =>
  (await storage.listJobs({ place, limit: 100 })).items.map(({ id }) => id)

test('the oldest archived jobs go first, then dead letters, never live ones', async () => {
  const storage = createMemoryStorage({ now: () => 0, capacity: 6 })
  const dead = [await end(storage, 'die'), await end(storage, 'die')]
  const done = [await end(storage, 'succeed'), await end(storage, 'succeed')]
  const live = (await storage.enqueue([job, job, job])).map(({ id }) => id)
  expect(await ids(storage, 'archive')).toEqual([done[1]])
  expect(await ids(storage, 'dlq')).toHaveLength(2)
  live.push(...(await storage.enqueue([job, job])).map(({ id }) => id))
  expect(await ids(storage, 'archive')).toEqual([])
  expect(await ids(storage, 'dlq')).toEqual([dead[1]])
  live.push(...(await storage.enqueue([job])).map(({ id }) => id))
  expect(await ids(storage, 'dlq')).toEqual([])
  expect((await ids(storage, 'hot')).sort()).toEqual(live.sort())
})

test('what does not fit beside live jobs is refused whole, until some have ended', async () => {
  const storage = createMemoryStorage({ now: () => 0, capacity: 3 })
  await storage.enqueue([job, job])
  await expect(storage.enqueue([job, { ...job, idempotencyKey: 'k' }])).rejects.toMatchObject({
    code: 'STORAGE_FULL',
    message: expect.stringContaining('3 jobs at most') as string,
  })
  expect(await ids(storage, 'hot')).toHaveLength(2)
  await storage.enqueue([{ ...job, idempotencyKey: 'k' }])
  // A key that is live already needs no room.
  expect(await storage.enqueue([{ ...job, idempotencyKey: 'k' }])).toMatchObject([
    { created: false },
  ])
})

test('buckets of seconds beyond ten thousand are folded by themselves, and nothing is uncounted', () => {
  const metrics = createMemoryMetrics()
  for (let second = 0; second < 10_050; second += 1) {
    metrics.count(second * 1_000, { queue: 'q', what: 'succeeded', durationMs: 1 })
  }
  expect(metrics.since(0)).toHaveLength(10_000)
  expect(metrics.totals()).toEqual([{ queue: 'q', succeeded: 10_050, failed: 0, retried: 0 }])
})
