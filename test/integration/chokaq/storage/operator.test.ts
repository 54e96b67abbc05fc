/** What operators do: cancel, priority, queues, and many at once by a filter. */

import { expect, test } from 'vitest'
import type { BulkAction } from '../../../../src/chokaq/storage/operator-port.js'
import { describeStorages, fetchOne, idsIn, look, newJob, put, putRunning } from './storages.js'

const by = { by: 'ops' }
const because = { by: 'ops', reason: 'wrong quarter' }

describeStorages('Cancelling', (get) => {
  test.each(['Pending', 'Fetched'])('a %s job is a dead letter at once', async (state) => {
    const { storage } = get()
    const id = await put(storage)
    if (state === 'Fetched') await fetchOne(storage)
    expect(await storage.cancel([id], because)).toEqual([{ outcome: 'cancelled' }])
    expect(await look(storage, id)).toMatchObject({
      place: 'dlq',
      state: 'Cancelled',
      reason: 'Cancelled',
      details: 'cancelled by ops: wrong quarter',
      attempts: 0,
    })
  })

  test('a Processing job is asked for its end; its worker hears of it by the heartbeat', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    expect(await storage.cancel([lease.jobId], because)).toEqual([{ outcome: 'requested' }])
    expect(await storage.cancel([lease.jobId], { by: 'other', reason: 'late' })).toEqual([
      { outcome: 'requested' },
    ])
    expect(await look(storage, lease.jobId)).toMatchObject({
      state: 'Processing',
      cancelRequestedBy: 'ops',
    })
    expect(await storage.heartbeat([{ lease }])).toEqual([
      { outcome: 'cancel-requested', by: 'ops', reason: 'wrong quarter' },
    ])
    await storage.deadLetter([{ lease, reason: 'Cancelled', details: 'as asked' }])
    expect(await look(storage, lease.jobId)).toMatchObject({ state: 'Cancelled' })
  })

  test('a run that ends by success before it hears of it has succeeded', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.cancel([lease.jobId], because)
    expect(await storage.succeed([{ lease, durationMs: 1 }])).toEqual([{ outcome: 'moved' }])
    expect((await look(storage, lease.jobId)).state).toBe('Succeeded')
  })

  test('a run that fails before it hears of it is not repeated', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.cancel([lease.jobId], because)
    const retry = () => storage.retry([{ lease, delayMs: 0, error: 'away' }])
    expect(await retry()).toEqual([{ outcome: 'cancelled' }])
    expect(await look(storage, lease.jobId)).toMatchObject({
      state: 'Cancelled',
      details: 'cancelled by ops: wrong quarter\naway',
    })
    expect(await retry()).toEqual([{ outcome: 'cancelled' }])
    expect(await storage.totals()).toEqual([{ queue: 'q', succeeded: 0, failed: 1, retried: 0 }])
  })

  test('the same id twice in one call is answered as in two', async () => {
    const { storage } = get()
    const id = await put(storage, { idempotencyKey: 'k' })
    const outcomes = (answers: readonly { readonly outcome: string }[]) =>
      answers.map(({ outcome }) => outcome)
    const twice = [id, id]
    expect(outcomes(await storage.cancel(twice, because))).toEqual(['cancelled', 'not-live'])
    const holder = await put(storage, { idempotencyKey: 'k' })
    expect(outcomes(await storage.resurrect(twice, by))).toEqual(['key-taken', 'key-taken'])
    await storage.cancel([holder], because)
    expect(outcomes(await storage.resurrect(twice, by))).toEqual(['resurrected', 'not-dead'])
    expect(outcomes(await storage.setPriority(twice, { ...by, priority: 1 }))).toEqual([
      'changed',
      'changed',
    ])
    const { jobId } = await putRunning(storage)
    expect(outcomes(await storage.cancel([jobId, jobId], because))).toEqual([
      'requested',
      'requested',
    ])
  })

  test('what is not live is left alone, item by item', async () => {
    const { storage } = get()
    const done = await putRunning(storage)
    await storage.succeed([{ lease: done, durationMs: 1 }])
    const id = await put(storage)
    const answers = await storage.cancel([done.jobId, id, 'nothing', 'a\0'], because)
    expect(answers.map(({ outcome }) => outcome)).toEqual([
      'not-live',
      'cancelled',
      'not-live',
      'not-live',
    ])
    await expect(storage.cancel([id], { by: '', reason: '' })).rejects.toMatchObject({
      code: 'ACTOR_INVALID',
    })
  })
})

describeStorages('A priority', (get) => {
  test('of a Pending job can be changed, and decides over its turn', async () => {
    const { storage } = get()
    const [first, second] = [await put(storage), await put(storage)]
    const change = (ids: string[], priority: number) =>
      storage.setPriority(ids, { ...by, priority })
    expect(await change([second], 90)).toEqual([{ outcome: 'changed' }])
    expect((await fetchOne(storage)).lease.jobId).toBe(second)
    expect(await look(storage, second)).toMatchObject({ priority: 90, modifiedBy: 'ops' })
    expect(await change([second, first, 'nothing'], 1)).toEqual([
      { outcome: 'not-pending' },
      { outcome: 'changed' },
      { outcome: 'not-pending' },
    ])
    await expect(change([first], 101)).rejects.toMatchObject({ code: 'PRIORITY_OUT_OF_RANGE' })
  })
})

describeStorages('Many at once, by a filter', (get) => {
  const cancel: BulkAction = { kind: 'cancel', reason: 'wrong quarter' }

  test('a preview says how many there are, how many it would be, and some of them', async () => {
    const { storage } = get()
    const jobs = Array.from({ length: 30 }, (_, n) => newJob({ queue: n < 25 ? 'a' : 'b' }))
    const ids = (await storage.enqueue(jobs)).map(({ id }) => id)
    const request = { action: cancel, filter: { queue: 'a' }, cap: 20 }
    expect(await storage.previewBulk(request)).toEqual({
      matched: 25,
      willAffect: 20,
      sampleIds: ids.slice(0, 10),
    })
    expect(await idsIn(storage, 'hot')).toHaveLength(30)
  })

  test('no more than the cap, the oldest first; again for the rest', async () => {
    const { storage } = get()
    const ids = (await storage.enqueue(Array.from({ length: 250 }, () => newJob()))).map(
      ({ id }) => id,
    )
    const request = { action: cancel, filter: {}, cap: 230, by: 'ops' }
    expect(await storage.applyBulk(request)).toMatchObject({ affected: 230, left: 0 })
    expect(await idsIn(storage, 'hot')).toEqual(ids.slice(230))
    expect(await storage.applyBulk(request)).toMatchObject({ affected: 20, left: 0 })
    const back = { action: { kind: 'resurrect' } as const, filter: {}, cap: 1_000, by: 'ops' }
    expect(await storage.applyBulk(back)).toMatchObject({ affected: 250, left: 0 })
    expect(await idsIn(storage, 'hot')).toEqual(ids)
  })

  test('portion by portion, each behind the last of the one before', async () => {
    const { storage } = get()
    const ids = (await storage.enqueue(Array.from({ length: 5 }, () => newJob()))).map(
      ({ id }) => id,
    )
    const order = { action: cancel, filter: {}, cap: 3, by: 'ops' }
    const first = await storage.applyBulk(order)
    expect(first).toEqual({ affected: 3, left: 0, last: ids[2] })
    const second = await storage.applyBulk({ ...order, after: ids[3] })
    expect(second).toEqual({ affected: 1, left: 0, last: ids[4] })
    expect(await idsIn(storage, 'hot')).toEqual([ids[3]])
    expect(await storage.applyBulk({ ...order, after: ids[4] })).toEqual({
      ...{ affected: 0, left: 0, last: undefined },
    })
  })

  test('what can’t be moved is counted as left, and passed over', async () => {
    const { storage } = get()
    for (const n of [1, 2]) {
      const lease = await putRunning(storage, { idempotencyKey: `k${n}` })
      await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
    }
    await put(storage, { idempotencyKey: 'k1' })
    const request = { action: { kind: 'resurrect' } as const, filter: {}, cap: 10, by: 'ops' }
    expect(await storage.applyBulk(request)).toMatchObject({ affected: 1, left: 1 })
  })

  test('purging deletes dead letters for good, and nothing else', async () => {
    const { storage } = get()
    const kept = await put(storage, { queue: 'a' })
    for (const queue of ['a', 'b']) {
      const lease = await putRunning(storage, { queue })
      await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
    }
    const request = {
      action: { kind: 'purge' } as const,
      filter: { queue: 'a' },
      cap: 10,
      by: 'ops',
    }
    expect(await storage.applyBulk(request)).toMatchObject({ affected: 1, left: 0 })
    expect(await idsIn(storage, 'dlq')).toHaveLength(1)
    expect(await idsIn(storage, 'hot')).toEqual([kept])
  })

  test.each([0, 1_001, 1.5])('a cap of %d is refused', async (cap) => {
    const { storage } = get()
    const request = { action: cancel, filter: {}, cap, by: 'ops' }
    await expect(storage.previewBulk(request)).rejects.toMatchObject({ code: 'FILTER_INVALID' })
    await expect(storage.applyBulk(request)).rejects.toMatchObject({ code: 'FILTER_INVALID' })
  })
})
