/** Phase 2, Fetch: order, ownership, pause, and MaxWorkers counted over all who fetch. */

import { expect, test } from 'vitest'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import { describeStorages, fetchOne, look, newJob, put } from './storages.js'

const by = { by: 'ops' }

async function fetchIds(
  storage: JobStorage,
  limit: number,
  queues?: readonly string[],
): Promise<string[]> {
  const jobs = await storage.fetch({ owner: 'worker-1', limit, queues })
  return jobs.map(({ lease }) => lease.jobId)
}

describeStorages('Phase 2, Fetch', (get) => {
  test('Pending becomes Fetched with its owner, and burns no attempt', async () => {
    const { storage, advance } = get()
    const id = await put(storage)
    await advance(1_500)
    const job = await fetchOne(storage)
    expect(job).toMatchObject({ attempts: 0, lease: { jobId: id, owner: 'worker-1' } })
    expect(job.ageMs).toBeGreaterThanOrEqual(1_500)
    expect(job.lagMs).toBeGreaterThanOrEqual(1_500)
    expect(job.lagMs).toBeLessThan(60_000)
    expect(await look(storage, id)).toMatchObject({
      state: 'Fetched',
      owner: 'worker-1',
      attempts: 0,
      startedAtMs: undefined,
    })
    expect(await storage.fetch({ owner: 'worker-2', limit: 10 })).toEqual([])
  })

  test('the higher priority first, then the longer due, then the older, over all queues', async () => {
    const { storage, advance } = get()
    const second = await put(storage, { priority: 50, queue: 'b', delayMs: 1_000 })
    const third = await put(storage, { priority: 50, queue: 'a', delayMs: 2_000 })
    const last = await put(storage, { priority: 0, queue: 'a' })
    const [fourth, fifth] = (
      await storage.enqueue([newJob({ priority: 7 }), newJob({ priority: 7 })])
    ).map(({ id }) => id)
    const first = await put(storage, { priority: 100, queue: 'c', delayMs: 3_000 })
    const future = await put(storage, { priority: 100, queue: 'c', delayMs: 3_600_000 })
    await advance(10_000)
    expect(await fetchIds(storage, 2)).toEqual([first, second])
    expect(await fetchIds(storage, 10)).toEqual([third, fourth, fifth, last])
    expect((await look(storage, future)).state).toBe('Pending')
  })

  test('with a start in it: Processing, an attempt burnt, the limits of its queue', async () => {
    const { storage } = get()
    const limits = { timeoutMs: 2_400_000, zombieTimeoutMs: 90_000 }
    await storage.changeQueue('slow', { ...limits, maxWorkers: 1 }, by)
    const first = await put(storage, { queue: 'slow', priority: 90 })
    await put(storage, { queue: 'slow', priority: 80 })
    const second = await put(storage)
    const jobs = await storage.fetch({ owner: 'worker-1', limit: 10, start: true })
    expect(jobs).toMatchObject([
      { lease: { jobId: first }, attempts: 0, started: { attempt: 1, ...limits } },
      { lease: { jobId: second }, attempts: 0, started: { attempt: 1, timeoutMs: undefined } },
    ])
    const job = await look(storage, second)
    expect(job).toMatchObject({ state: 'Processing', attempts: 1, owner: 'worker-1' })
    expect(job.startedAtMs).toBeGreaterThanOrEqual(job.createdAtMs)
    const [, lease] = jobs.map((one) => one.lease)
    if (lease === undefined) throw new Error('few')
    expect(await storage.start([lease])).toEqual([{ outcome: 'stale' }])
    expect(await storage.heartbeat([{ lease }])).toEqual([{ outcome: 'alive' }])
    await storage.retry([{ lease, delayMs: 0, error: 'again' }])
    const again = await storage.fetch({ owner: 'worker-2', limit: 10, start: true })
    expect(again).toMatchObject([{ attempts: 1, started: { attempt: 2 } }])
  })

  test('only from the queues that are asked for', async () => {
    const { storage } = get()
    const [a, , c] = [
      await put(storage, { queue: 'a' }),
      await put(storage, { queue: 'b' }),
      await put(storage, { queue: 'c' }),
    ]
    expect(await fetchIds(storage, 10, ['a', 'c', 'none'])).toEqual([a, c])
    expect(await fetchIds(storage, 10, [])).toEqual([])
  })

  test('each fetch has a higher token, also of the same job', async () => {
    const { storage } = get()
    await put(storage)
    const first = await fetchOne(storage)
    await storage.giveBack([{ lease: first.lease }])
    const second = await fetchOne(storage)
    expect(second.lease.token).toBeGreaterThan(first.lease.token)
  })

  test('nothing of a paused queue, until it is resumed', async () => {
    const { storage } = get()
    const [id, other] = [await put(storage, { queue: 'a' }), await put(storage, { queue: 'b' })]
    await storage.changeQueue('a', { paused: true }, by)
    expect(await fetchIds(storage, 10)).toEqual([other])
    await storage.changeQueue('a', { paused: false }, by)
    expect(await fetchIds(storage, 10)).toEqual([id])
  })

  test('MaxWorkers: no more than that are Fetched or Processing, whoever fetches', async () => {
    const { storage } = get()
    await storage.changeQueue('q', { maxWorkers: 3 }, by)
    await storage.enqueue(Array.from({ length: 10 }, () => newJob()))
    const first = await storage.fetch({ owner: 'worker-1', limit: 2 })
    const [lease] = first.map((job) => job.lease)
    if (lease === undefined) throw new Error('nothing was fetched')
    await storage.start([lease])
    expect(await storage.fetch({ owner: 'worker-2', limit: 10 })).toHaveLength(1)
    expect(await storage.fetch({ owner: 'worker-3', limit: 10 })).toEqual([])
    await storage.succeed([{ lease, durationMs: 1 }])
    expect(await storage.fetch({ owner: 'worker-3', limit: 10 })).toHaveLength(1)
  })

  test('MaxWorkers holds across priorities of the queue, the highest first', async () => {
    const { storage } = get()
    await storage.changeQueue('q', { maxWorkers: 3 }, by)
    const low = await put(storage, { priority: 1 })
    const high = await put(storage, { priority: 99 })
    const middle = [await put(storage, { priority: 50 }), await put(storage, { priority: 50 })]
    expect(await fetchIds(storage, 10)).toEqual([high, ...middle])
    expect((await look(storage, low)).state).toBe('Pending')
  })

  test('a limit that is lowered ends no run, and one that is taken away holds nobody', async () => {
    const { storage } = get()
    await storage.enqueue(Array.from({ length: 6 }, () => newJob()))
    const running = await storage.fetch({ owner: 'worker-1', limit: 3 })
    await storage.changeQueue('q', { maxWorkers: 2 }, by)
    expect(await fetchIds(storage, 10)).toEqual([])
    await storage.giveBack(running.slice(0, 2).map(({ lease }) => ({ lease })))
    expect(await fetchIds(storage, 10)).toHaveLength(1)
    await storage.changeQueue('q', { maxWorkers: null }, by)
    expect(await fetchIds(storage, 10)).toHaveLength(4)
  })

  test('C1 a full queue of 500 high ones holds up nobody behind it', async () => {
    const { storage } = get()
    await storage.changeQueue('a', { maxWorkers: 2 }, by)
    await storage.enqueue(Array.from({ length: 500 }, () => newJob({ queue: 'a', priority: 100 })))
    expect(await fetchIds(storage, 20)).toHaveLength(2)
    const waiting = await put(storage, { queue: 'b', priority: 0 })
    expect(await fetchIds(storage, 1)).toEqual([waiting])
  })

  test('C1 what a queue has room for takes its places, and the rest of the batch goes on', async () => {
    const { storage } = get()
    await storage.changeQueue('a', { maxWorkers: 2 }, by)
    await storage.enqueue(Array.from({ length: 50 }, () => newJob({ queue: 'a', priority: 100 })))
    await storage.enqueue(Array.from({ length: 50 }, () => newJob({ queue: 'b', priority: 0 })))
    const jobs = await storage.fetch({ owner: 'worker-1', limit: 10 })
    expect(jobs.map(({ queue }) => queue)).toEqual(['a', 'a', ...Array<string>(8).fill('b')])
  })

  test('fetchers at once never get the same job, and between them all', async () => {
    const { storage } = get()
    const jobs = Array.from({ length: 200 }, (_, n) =>
      newJob({ queue: `queue-${n % 3}`, priority: n % 2 }),
    )
    const ids = (await storage.enqueue(jobs)).map(({ id }) => id)
    const fetched: string[] = []
    const drain = async (owner: string): Promise<void> => {
      for (let idle = 0; idle < 3;) {
        const got = await storage.fetch({ owner, limit: 7 })
        fetched.push(...got.map(({ lease }) => lease.jobId))
        idle = got.length === 0 ? idle + 1 : 0
      }
    }
    await Promise.all(Array.from({ length: 6 }, (_, n) => drain(`worker-${n}`)))
    // One that found all of the rest locked by others may have ended too soon.
    await drain('worker-last')
    expect(fetched.sort()).toEqual([...ids].sort())
  })

  test('fetchers at once together never exceed MaxWorkers', async () => {
    const { storage } = get()
    await storage.changeQueue('q', { maxWorkers: 5 }, by)
    await storage.changeQueue('r', { maxWorkers: 1 }, by)
    await storage.enqueue(
      Array.from({ length: 300 }, (_, n) => newJob({ queue: n % 2 === 0 ? 'q' : 'r' })),
    )
    for (let round = 0; round < 10; round += 1) {
      const batches = await Promise.all(
        Array.from({ length: 8 }, (_, n) => storage.fetch({ owner: `worker-${n}`, limit: 4 })),
      )
      const jobs = batches.flat()
      const statuses = await storage.listQueues()
      expect(
        statuses.map(({ name, fetched }) => [name, fetched <= (name === 'q' ? 5 : 1)]),
      ).toEqual([
        ['q', true],
        ['r', true],
      ])
      expect(jobs.length).toBeGreaterThan(0)
      await storage.giveBack(jobs.map(({ lease }) => ({ lease })))
    }
  })

  test('what an owner has and does not know of is given back, and nothing else', async () => {
    const { storage } = get()
    for (let n = 0; n < 4; n += 1) await put(storage)
    const [lost, known, started] = (await storage.fetch({ owner: 'worker-1', limit: 3 })).map(
      ({ lease }) => lease,
    )
    if (lost === undefined || known === undefined || started === undefined) throw new Error('few')
    await storage.start([started])
    const { lease: others } = await fetchOne(storage, 'worker-2')
    const request = { owner: 'worker-1', held: [known.token] }
    const given = await storage.giveBackLost(request)
    expect(given.map(({ id }) => id).sort()).toEqual([lost.jobId, started.jobId].sort())
    expect(given[0]).toMatchObject({ type: 'test.noop.v1', queue: 'q' })
    const states = async () =>
      Promise.all(
        [lost, known, started, others].map(async ({ jobId }) => (await look(storage, jobId)).state),
      )
    expect(await states()).toEqual(['Pending', 'Fetched', 'Pending', 'Fetched'])
    for (const lease of [lost, started]) {
      expect(await look(storage, lease.jobId)).toMatchObject({ attempts: 0, owner: undefined })
      expect(await storage.start([lease])).toEqual([{ outcome: 'stale' }])
    }
    expect(await storage.giveBackLost(request)).toEqual([])
    expect(await storage.giveBackLost({ ...request, held: [] })).toHaveLength(1)
  })

  test('what an owner does not know of and an operator wants cancelled waits for the rescue', async () => {
    const { storage } = get()
    await put(storage)
    const [job] = await storage.fetch({ owner: 'worker-1', limit: 1, start: true })
    const id = job?.lease.jobId ?? ''
    await storage.cancel([id], { by: 'ops', reason: 'wrong' })
    expect(await storage.giveBackLost({ owner: 'worker-1', held: [] })).toEqual([])
    expect(await look(storage, id)).toMatchObject({ state: 'Processing', attempts: 1 })
  })

  test.each([0, -1, 1.5, 10_001])('refuses a limit of %d', async (limit) => {
    const { storage } = get()
    await expect(storage.fetch({ owner: 'w', limit })).rejects.toMatchObject({
      code: 'FILTER_INVALID',
    })
    await expect(storage.fetch({ owner: '', limit: 1 })).rejects.toMatchObject({
      code: 'ACTOR_INVALID',
    })
  })
})
