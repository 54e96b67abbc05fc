/** Phases 3 and 4: start, heartbeat, and each way a run can end, by its owner alone. */

import { expect, test } from 'vitest'
import type { Lease } from '../../../../src/chokaq/jobs/job.js'
import { limits } from '../../../../src/chokaq/jobs/limits.js'
import { describeStorages, fetchOne, look, put, putRunning, single } from './storages.js'

describeStorages('Phase 3, Process', (get) => {
  test('Fetched becomes Processing and burns an attempt', async () => {
    const { storage } = get()
    const id = await put(storage)
    const { lease } = await fetchOne(storage)
    expect(await storage.start([lease])).toEqual([
      { outcome: 'started', attempt: 1, timeoutMs: undefined, zombieTimeoutMs: undefined },
    ])
    const job = await look(storage, id)
    expect(job).toMatchObject({ state: 'Processing', attempts: 1, owner: 'worker-1' })
    expect(job.startedAtMs).toBeGreaterThanOrEqual(job.createdAtMs)
  })

  test('gives the queue’s time limit for the run', async () => {
    const { storage } = get()
    await storage.changeQueue('q', { timeoutMs: 2_400_000, zombieTimeoutMs: 90_000 }, { by: 'ops' })
    await put(storage)
    const { lease } = await fetchOne(storage)
    expect(single(await storage.start([lease]))).toMatchObject({
      timeoutMs: 2_400_000,
      zombieTimeoutMs: 90_000,
    })
  })

  test('is refused in a queue that was paused after the fetch, and can be given back', async () => {
    const { storage } = get()
    const id = await put(storage)
    const { lease } = await fetchOne(storage)
    await storage.changeQueue('q', { paused: true }, { by: 'ops' })
    expect(await storage.start([lease])).toEqual([{ outcome: 'paused' }])
    expect(await look(storage, id)).toMatchObject({ state: 'Fetched', attempts: 0 })
    expect(await storage.giveBack([{ lease }])).toEqual([{ outcome: 'moved' }])
  })

  test('the gate opens once: a second start of the same lease is stale', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    expect(await storage.start([lease])).toEqual([{ outcome: 'stale' }])
    expect((await look(storage, lease.jobId)).attempts).toBe(1)
  })

  test('a heartbeat keeps the progress, in whole per cent from 0 to 100', async () => {
    const { storage, advance } = get()
    const lease = await putRunning(storage)
    const before = await look(storage, lease.jobId)
    await advance(8_000)
    const beat = (progress?: number) => storage.heartbeat([{ lease, progress }])
    expect(await beat()).toEqual([{ outcome: 'alive' }])
    const after = await look(storage, lease.jobId)
    expect(before).toMatchObject({ progress: undefined })
    expect(after).toMatchObject({ progress: undefined, state: 'Processing', attempts: 1 })
    for (const [said, kept] of [
      [41.6, 42],
      [-3, 0],
      [1e9, 100],
      [NaN, 0],
    ] as const) {
      await beat(said)
      expect(await look(storage, lease.jobId)).toMatchObject({ progress: kept })
    }
    await beat()
    expect(await look(storage, lease.jobId)).toMatchObject({ progress: 0 })
  })

  test('what is only fetched is kept alive too', async () => {
    const { storage, advance } = get()
    await put(storage)
    const { lease } = await fetchOne(storage)
    await advance(500_000)
    expect(await storage.heartbeat([{ lease, progress: 5 }])).toEqual([{ outcome: 'alive' }])
    const rescue = { fetchedTimeoutMs: 400_000, zombieTimeoutMs: 1, limit: 10 }
    expect((await storage.rescue(rescue)).givenBack).toEqual([])
  })

  test('a checkpoint stays with the job for its next run', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    expect(await storage.saveCheckpoint(lease, '{"done": 7}')).toBe(true)
    await storage.retry([{ lease, delayMs: 0, error: 'x' }])
    expect(await storage.saveCheckpoint(lease, '{"done":8}')).toBe(false)
    expect((await fetchOne(storage)).checkpoint).toBe('{"done": 7}')
    await expect(storage.saveCheckpoint(lease, '{')).rejects.toMatchObject({
      code: 'CHECKPOINT_INVALID',
    })
  })
})

describeStorages('Phase 4, the end of a run', (get) => {
  test('4a Success: Processing moves to the archive with its duration', async () => {
    const { storage } = get()
    const lease = await putRunning(storage, { tags: ['a'], createdBy: 'me', idempotencyKey: 'k' })
    expect(await storage.succeed([{ lease, durationMs: 12.5 }])).toEqual([{ outcome: 'moved' }])
    const job = await look(storage, lease.jobId)
    expect(job).toMatchObject({
      place: 'archive',
      state: 'Succeeded',
      durationMs: 12.5,
      attempts: 1,
      owner: 'worker-1',
      tags: ['a'],
      createdBy: 'me',
      idempotencyKey: 'k',
      payload: '{"n":1}',
    })
    expect(await storage.totals()).toEqual([{ queue: 'q', succeeded: 1, failed: 0, retried: 0 }])
  })

  test('4b Transient failure: Pending again after its wait, the attempt stays burnt', async () => {
    const { storage, advance } = get()
    const lease = await putRunning(storage)
    const retried = await storage.retry([{ lease, delayMs: 60_000, error: 'ECONNREFUSED' }])
    expect(retried).toEqual([{ outcome: 'moved' }])
    expect(await look(storage, lease.jobId)).toMatchObject({
      state: 'Pending',
      attempts: 1,
      owner: undefined,
      lastError: 'ECONNREFUSED',
      heartbeatAtMs: undefined,
    })
    expect(await storage.fetch({ owner: 'w', limit: 10 })).toEqual([])
    await advance(60_000)
    const again = await fetchOne(storage)
    expect(again.attempts).toBe(1)
    expect(single(await storage.start([again.lease]))).toMatchObject({ attempt: 2 })
    expect(await storage.totals()).toEqual([{ queue: 'q', succeeded: 0, failed: 0, retried: 1 }])
  })

  test('4b a run that was ended from outside gives its attempt back', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.retry([{ lease, delayMs: 0, error: 'shutdown', refundAttempt: true }])
    expect(await storage.totals()).toEqual([])
    expect((await look(storage, lease.jobId)).attempts).toBe(0)
  })

  test.each([
    ['MaxRetriesExceeded', 'Failed'],
    ['FatalError', 'Failed'],
    ['InvalidPayload', 'Failed'],
    ['UnknownType', 'Failed'],
    ['Timeout', 'Failed'],
    ['Throttled', 'Failed'],
    ['CircuitBreakerOpen', 'Failed'],
    ['HeartbeatFailure', 'Failed'],
    ['RetryLifetimeExpired', 'Failed'],
    ['Cancelled', 'Cancelled'],
  ] as const)('4c %s: Processing moves to the dead letters as %s', async (reason, state) => {
    const { storage } = get()
    const lease = await putRunning(storage)
    const details = 'Error: no such report\n    at handler (report.ts:7)'
    expect(await storage.deadLetter([{ lease, reason, details, durationMs: 3 }])).toEqual([
      { outcome: 'moved' },
    ])
    expect(await look(storage, lease.jobId)).toMatchObject({
      place: 'dlq',
      state,
      reason,
      details,
      attempts: 1,
      owner: 'worker-1',
    })
    expect(await storage.totals()).toEqual([{ queue: 'q', succeeded: 0, failed: 1, retried: 0 }])
  })

  test('4c a job that can’t even begin goes there from Fetched, no attempt burnt', async () => {
    const { storage } = get()
    await put(storage)
    const { lease } = await fetchOne(storage)
    await storage.deadLetter([{ lease, reason: 'UnknownType', details: 'no handler' }])
    expect(await look(storage, lease.jobId)).toMatchObject({ state: 'Failed', attempts: 0 })
  })

  test('what was only fetched is given back: no attempt burnt, due as before or later', async () => {
    const { storage, advance } = get()
    const id = await put(storage)
    const before = await look(storage, id)
    const { lease } = await fetchOne(storage)
    expect(await storage.giveBack([{ lease }])).toEqual([{ outcome: 'moved' }])
    expect(await look(storage, id)).toEqual(before)
    const second = await fetchOne(storage)
    await storage.giveBack([{ lease: second.lease, delayMs: 5_000 }])
    expect(await storage.fetch({ owner: 'w', limit: 1 })).toEqual([])
    await advance(5_000)
    expect((await fetchOne(storage)).attempts).toBe(0)
  })

  test('P1 an error text with U+0000, half a pair and no end is stored, cleaned and cut', async () => {
    const { storage } = get()
    const [first, second] = [await putRunning(storage), await putRunning(storage)]
    const error = `a\0b\ud800c${'x'.repeat(2 * limits.detailsLength)}`
    const kept = `a\ufffdb\ufffdc${'x'.repeat(limits.detailsLength - 5)}`
    await storage.retry([{ lease: first, delayMs: 1e6, error }])
    await storage.deadLetter([{ lease: second, reason: 'FatalError', details: error }])
    expect(await look(storage, first.jobId)).toMatchObject({ lastError: kept })
    expect(await look(storage, second.jobId)).toMatchObject({ details: kept })
  })

  test.each([Infinity, 1e300, NaN, -5])(
    'a wait of %d ms is brought into range',
    async (delayMs) => {
      const { storage } = get()
      const lease = await putRunning(storage)
      expect(await storage.retry([{ lease, delayMs, error: 'x' }])).toEqual([{ outcome: 'moved' }])
      const job = await look(storage, lease.jobId)
      const dueInMs = job.place === 'hot' ? job.dueAtMs - (await storage.now()) : NaN
      expect(Math.abs(dueInMs - (delayMs > 0 ? limits.delayMs : 0))).toBeLessThan(60_000)
    },
  )

  test('a batch answers item by item, in its order', async () => {
    const { storage } = get()
    const leases = []
    for (let n = 0; n < 4; n += 1) leases.push(await putRunning(storage))
    const [a, b, c, d] = leases as [Lease, Lease, Lease, Lease]
    await storage.succeed([{ lease: b, durationMs: 1 }])
    await storage.retry([{ lease: d, delayMs: 0, error: 'x' }])
    const other = { ...c, owner: 'worker-2' }
    const answers = await storage.succeed(
      [d, c, b, other, a].map((lease) => ({ lease, durationMs: 1 })),
    )
    expect(answers.map(({ outcome }) => outcome)).toEqual([
      'stale',
      'moved',
      'moved',
      'stale',
      'moved',
    ])
    expect(await storage.succeed([])).toEqual([])
    expect(await storage.start([])).toEqual([])
    expect(await storage.heartbeat([])).toEqual([])
  })
})
