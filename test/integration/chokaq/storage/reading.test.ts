/** Lists with filters and cursors, the state of queues, and retention. */

import { expect, test } from 'vitest'
import type { Lease } from '../../../../src/chokaq/jobs/job.js'
import type { JobFilter } from '../../../../src/chokaq/storage/job-filter.js'
import type { Place } from '../../../../src/chokaq/kernel/job-state.js'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import { describeStorages, fetchOne, idsIn, newJob, put, putRunning } from './storages.js'

async function pages(
  storage: JobStorage,
  place: Place,
  limit: number,
  filter: JobFilter = {},
): Promise<string[][]> {
  const all: string[][] = []
  let cursor: string | undefined
  do {
    const page = await storage.listJobs({ place, limit, filter, cursor })
    all.push(page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return all
}

describeStorages('A list', (get) => {
  test('of live jobs goes from the newest to the oldest, page by page', async () => {
    const { storage } = get()
    const ids = (await storage.enqueue(Array.from({ length: 5 }, () => newJob()))).map(
      ({ id }) => id,
    )
    const [a, b, c, d, e] = ids
    expect(await pages(storage, 'hot', 2)).toEqual([[e, d], [c, b], [a]])
    expect(await pages(storage, 'hot', 5)).toEqual([[e, d, c, b, a]])
    expect(await pages(storage, 'archive', 5)).toEqual([[]])
  })

  test.each(['archive', 'dlq'] as const)('of the %s begins with the latest end', async (place) => {
    const { storage, advance } = get()
    const leases: Lease[] = []
    for (let n = 0; n < 5; n += 1) leases.push(await putRunning(storage))
    const order = [2, 0, 4, 1, 3].map((n) => leases[n]).filter((lease) => lease !== undefined)
    for (const lease of order) {
      if (place === 'archive') await storage.succeed([{ lease, durationMs: 1 }])
      else await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
      await advance(10)
    }
    const latestFirst = order.map(({ jobId }) => jobId).reverse()
    expect((await pages(storage, place, 2)).flat()).toEqual(latestFirst)
  })

  test('shows jobs of one batch, which ended in one instant, once each', async () => {
    const { storage } = get()
    await storage.enqueue(Array.from({ length: 30 }, () => newJob()))
    const jobs = await storage.fetch({ owner: 'w', limit: 30 })
    const leases = jobs.map(({ lease }) => lease)
    await storage.start(leases)
    await storage.succeed(leases.map((lease) => ({ lease, durationMs: 1 })))
    const shown = (await pages(storage, 'archive', 7)).flat()
    expect(shown).toHaveLength(30)
    expect(new Set(shown)).toEqual(new Set(leases.map(({ jobId }) => jobId)))
  })

  test('can be narrowed by everything a job has', async () => {
    const { storage, advance } = get()
    await put(storage)
    await advance(60_000)
    const wanted = {
      queue: 'other',
      type: 'test.other.v1',
      tags: ['red', 'blue'],
      createdBy: 'me',
      idempotencyKey: 'k',
    }
    const id = await put(storage, wanted)
    const now = await storage.now()
    const found: JobFilter[] = [
      { queue: 'other' },
      { type: 'test.other.v1' },
      { tag: 'blue' },
      { createdBy: 'me' },
      { idempotencyKey: 'k' },
      { createdAfterMs: now - 30_000 },
      { queue: 'other', tag: 'red', states: ['Pending', 'Fetched'], createdBeforeMs: now + 60_000 },
    ]
    for (const filter of found) expect(await pages(storage, 'hot', 9, filter)).toEqual([[id]])
    const nothing: JobFilter[] = [
      { queue: 'other', tag: 'green' },
      { queue: 'o\0ther' },
      { states: ['Processing'] },
      { states: ['Succeeded'] },
      { states: [] },
      { reasons: ['FatalError'] },
      { finishedAfterMs: 0 },
      { createdAfterMs: now + 60_000 },
      { errorContains: 'x' },
    ]
    for (const filter of nothing) expect(await pages(storage, 'hot', 9, filter)).toEqual([[]])
  })

  test('of dead letters can be narrowed by how they died', async () => {
    const { storage } = get()
    const [a, b] = [await putRunning(storage), await putRunning(storage)]
    const now = await storage.now()
    await storage.deadLetter([{ lease: a, reason: 'Timeout', details: 'took 100% of 5_000 ms' }])
    await storage.deadLetter([{ lease: b, reason: 'FatalError', details: 'No Such Deal' }])
    const find = async (filter: JobFilter) => (await pages(storage, 'dlq', 9, filter)).flat()
    expect(await find({ reasons: ['Timeout', 'Zombie'] })).toEqual([a.jobId])
    expect(await find({ errorContains: 'such deal' })).toEqual([b.jobId])
    expect(await find({ errorContains: '100%' })).toEqual([a.jobId])
    expect(await find({ errorContains: '5_000' })).toEqual([a.jobId])
    expect(await find({ errorContains: '5%000' })).toEqual([])
    expect(await find({ finishedAfterMs: now - 1 })).toHaveLength(2)
    expect(await find({ finishedBeforeMs: now - 1 })).toEqual([])
  })

  test.each([
    ['no cursor', { cursor: 'nonsense' }, 'CURSOR_INVALID'],
    ['an empty cursor', { cursor: '' }, 'CURSOR_INVALID'],
    ['no limit', { limit: 0 }, 'FILTER_INVALID'],
    ['too long a page', { limit: 501 }, 'FILTER_INVALID'],
    ['a time that never comes', { filter: { createdAfterMs: Infinity } }, 'FILTER_INVALID'],
    ['a time that is none', { filter: { finishedBeforeMs: NaN } }, 'FILTER_INVALID'],
  ])('refuses %s', async (_what, broken, code) => {
    const { storage } = get()
    const refused = storage.listJobs({ place: 'hot', limit: 5, ...broken })
    await expect(refused).rejects.toMatchObject({ code })
  })

  test('refuses the cursor of another list', async () => {
    const { storage } = get()
    await storage.enqueue([newJob(), newJob()])
    const { nextCursor } = await storage.listJobs({ place: 'hot', limit: 1 })
    expect(nextCursor).toBeDefined()
    const refused = storage.listJobs({ place: 'dlq', limit: 1, cursor: nextCursor })
    await expect(refused).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
  })

  test('of one: what is not there is undefined', async () => {
    const { storage } = get()
    expect(await storage.findJob('nothing')).toBeUndefined()
    expect(await storage.findJob('a\0')).toBeUndefined()
  })
})

describeStorages('The queues', (get) => {
  test('tell how much waits, runs and lies dead, and for how long the longest has waited', async () => {
    const { storage, advance } = get()
    const dead = await putRunning(storage, { queue: 'b' })
    await storage.deadLetter([{ lease: dead, reason: 'FatalError', details: 'x' }])
    await putRunning(storage, { queue: 'a' })
    await put(storage, { queue: 'a' })
    await fetchOne(storage)
    await put(storage, { queue: 'a', delayMs: 5_000 })
    await put(storage, { queue: 'a', delayMs: 3_600_000 })
    await storage.changeQueue('c', { paused: true }, { by: 'ops' })
    await advance(65_000)
    const [a, b, c] = await storage.listQueues()
    expect(a).toMatchObject({ name: 'a', due: 1, scheduled: 1, fetched: 1, processing: 1, dead: 0 })
    expect(a?.lagSeconds).toBeGreaterThanOrEqual(60)
    expect(a?.lagSeconds).toBeLessThan(120)
    expect(b).toMatchObject({ name: 'b', due: 0, dead: 1, lagSeconds: 0 })
    expect(c).toMatchObject({ name: 'c', settings: { paused: true }, due: 0, lagSeconds: 0 })
  })
})

describeStorages('Retention', (get) => {
  test.each(['archive', 'dlq'] as const)('deletes old ones of the %s in batches', async (place) => {
    const { storage, advance } = get()
    const end = async (): Promise<string> => {
      const lease = await putRunning(storage)
      const settle =
        place === 'archive'
          ? storage.succeed([{ lease, durationMs: 1 }])
          : storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
      await settle
      await advance(1_000)
      return lease.jobId
    }
    const [oldest, old] = [await end(), await end(), await end()]
    await advance(600_000)
    const young = await end()
    const live = await put(storage)
    const prune = (limit: number) => storage.prune({ place, olderThanMs: 300_000, limit })
    expect(await prune(1)).toBe(1)
    expect(await idsIn(storage, place)).not.toContain(oldest)
    expect(await idsIn(storage, place)).toContain(old)
    expect(await prune(100)).toBe(2)
    expect(await prune(100)).toBe(0)
    expect(await idsIn(storage, place)).toEqual([young])
    expect(await idsIn(storage, 'hot')).toEqual([live])
    await expect(prune(0)).rejects.toMatchObject({ code: 'FILTER_INVALID' })
  })
})
