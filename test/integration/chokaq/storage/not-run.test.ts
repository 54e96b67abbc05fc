/** A job that was started and whose handler has not begun: its worker lets it go, no attempt burnt. */

import { expect, test } from 'vitest'
import { describeStorages, fetchOne, look, put } from './storages.js'

describeStorages('Started and not run', (get) => {
  test('goes back, or to the dead letters, with its attempt', async () => {
    const { storage } = get()
    for (let n = 0; n < 3; n += 1) await put(storage)
    const jobs = await storage.fetch({ owner: 'worker-1', limit: 3, start: true })
    const [back, dead, unwanted] = jobs.map(({ lease }) => lease)
    if (back === undefined || dead === undefined || unwanted === undefined) throw new Error('few')
    await storage.heartbeat([{ lease: back, progress: 5 }])
    await storage.cancel([unwanted.jobId], { by: 'ops', reason: 'wrong' })
    expect(await storage.giveBack([{ lease: back }, { lease: unwanted, delayMs: 5_000 }])).toEqual([
      { outcome: 'moved' },
      { outcome: 'cancelled' },
    ])
    expect(await look(storage, back.jobId)).toMatchObject({
      ...{ state: 'Pending', attempts: 0, progress: undefined },
      ...{ owner: undefined, lastError: undefined },
    })
    expect(await look(storage, unwanted.jobId)).toMatchObject({
      ...{ state: 'Cancelled', attempts: 0, details: 'cancelled by ops: wrong' },
    })
    const death = { reason: 'UnknownType', details: 'x', refundAttempt: true } as const
    expect(await storage.deadLetter([{ lease: dead, ...death }])).toEqual([{ outcome: 'moved' }])
    expect(await look(storage, dead.jobId)).toMatchObject({ state: 'Failed', attempts: 0 })
    expect(await storage.totals()).toEqual([{ queue: 'q', succeeded: 0, failed: 2, retried: 0 }])
    await storage.giveBack([{ lease: (await fetchOne(storage)).lease }])
    expect(await look(storage, back.jobId)).toMatchObject({ state: 'Pending', attempts: 0 })
  })

  test('a run that was ended from outside and is cancelled has no attempt on record', async () => {
    const { storage } = get()
    const id = await put(storage)
    const [job] = await storage.fetch({ owner: 'worker-1', limit: 1, start: true })
    if (job === undefined) throw new Error('nothing was fetched')
    await storage.cancel([id], { by: 'ops', reason: 'wrong' })
    const handOn = { lease: job.lease, delayMs: 0, error: 'the end', refundAttempt: true }
    expect(await storage.retry([handOn])).toEqual([{ outcome: 'cancelled' }])
    expect(await look(storage, id)).toMatchObject({ state: 'Cancelled', attempts: 0 })
  })
})
