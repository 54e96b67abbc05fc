/** Stale moves: whoever no longer holds a job changes nothing, and is told so. */

import { expect, test } from 'vitest'
import type { Lease } from '../../../../src/chokaq/jobs/job.js'
import type { JobStorage } from '../../../../src/chokaq/storage/job-storage.js'
import { describeStorages, fetchOne, look, put, putRunning, single } from './storages.js'

/** Every move of a worker's, tried with one lease. */
const attempts: Readonly<
  Record<string, (storage: JobStorage, lease: Lease) => Promise<{ readonly outcome: string }>>
> = {
  start: async (storage, lease) => single(await storage.start([lease])),
  heartbeat: async (storage, lease) => single(await storage.heartbeat([{ lease, progress: 9 }])),
  succeed: async (storage, lease) => single(await storage.succeed([{ lease, durationMs: 1 }])),
  retry: async (storage, lease) =>
    single(await storage.retry([{ lease, delayMs: 0, error: 'late', refundAttempt: true }])),
  deadLetter: async (storage, lease) =>
    single(await storage.deadLetter([{ lease, reason: 'FatalError', details: 'late' }])),
  giveBack: async (storage, lease) => single(await storage.giveBack([{ lease }])),
  saveCheckpoint: async (storage, lease) => ({
    outcome: (await storage.saveCheckpoint(lease, '"late"')) ? 'moved' : 'stale',
  }),
}

/** How a lease can have ended, or never have been; gives it, and leaves the job somewhere else. */
const endings: Readonly<Record<string, (storage: JobStorage) => Promise<Lease>>> = {
  'by another owner': async (storage) => ({ ...(await putRunning(storage)), owner: 'worker-2' }),
  'with an older token of the same owner': async (storage) => {
    const first = await putRunning(storage)
    await storage.retry([{ lease: first, delayMs: 0, error: 'x' }])
    const { lease } = await fetchOne(storage)
    await storage.start([lease])
    return first
  },
  'after another has fetched it again': async (storage) => {
    const first = await putRunning(storage)
    await storage.retry([{ lease: first, delayMs: 0, error: 'x' }])
    await fetchOne(storage, 'worker-2')
    return first
  },
  'of a zombie': async (storage) => {
    const lease = await putRunning(storage)
    await storage.rescue({ fetchedTimeoutMs: 1e9, zombieTimeoutMs: -1, limit: 10 })
    return lease
  },
  'of a fetch that was rescued': async (storage) => {
    await put(storage)
    const { lease } = await fetchOne(storage)
    await storage.rescue({ fetchedTimeoutMs: -1, zombieTimeoutMs: 1e9, limit: 10 })
    return lease
  },
  'of one cancelled before it began': async (storage) => {
    await put(storage)
    const { lease } = await fetchOne(storage)
    await storage.cancel([lease.jobId], { by: 'ops', reason: 'no' })
    return lease
  },
  'of one that was resurrected': async (storage) => {
    const lease = await putRunning(storage)
    await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
    await storage.resurrect([lease.jobId], { by: 'ops' })
    return lease
  },
  'of a job that never was': async (storage) => {
    const lease = await putRunning(storage)
    return { ...lease, jobId: lease.jobId.split('').reverse().join('') }
  },
}

describeStorages('A stale move', (get) => {
  const pairs = Object.keys(endings).flatMap((ending) =>
    Object.keys(attempts).map((attempt) => [attempt, ending] as const),
  )

  test.each(pairs)('%s %s changes nothing', async (attempt, ending) => {
    const { storage } = get()
    const lease = await endings[ending]?.(storage)
    if (lease === undefined) throw new Error('no such ending')
    const before = await everything(storage)
    // What was cancelled is cancelled, whoever brings the news.
    const expected = attempt === 'retry' && ending.includes('cancelled') ? 'cancelled' : 'stale'
    expect((await attempts[attempt]?.(storage, lease))?.outcome).toBe(expected)
    expect(await everything(storage)).toEqual(before)
  })

  test.each(['succeed', 'retry', 'deadLetter', 'giveBack'])(
    '%s, said again because its answer was lost, is moved, and counted once',
    async (name) => {
      const { storage } = get()
      const attempt = attempts[name]
      await put(storage)
      const { lease } = await fetchOne(storage)
      if (name !== 'giveBack') await storage.start([lease])
      expect((await attempt?.(storage, lease))?.outcome).toBe('moved')
      const after = await everything(storage)
      expect((await attempt?.(storage, lease))?.outcome).toBe('moved')
      expect(await everything(storage)).toEqual(after)
    },
  )

  test('of two who end the same run at once, one is heard', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    const answers = await Promise.all([
      storage.succeed([{ lease, durationMs: 1 }]),
      storage.deadLetter([{ lease, reason: 'Timeout', details: 'too late' }]),
      storage.retry([{ lease, delayMs: 0, error: 'x' }]),
    ])
    const outcomes = answers.map((answer) => single(answer).outcome)
    expect(outcomes.filter((outcome) => outcome === 'moved')).toHaveLength(1)
    const job = await look(storage, lease.jobId)
    expect(['Succeeded', 'Failed', 'Pending'].indexOf(job.state)).toBe(outcomes.indexOf('moved'))
  })
})

async function everything(storage: JobStorage): Promise<unknown> {
  const lists = await Promise.all(
    (['hot', 'archive', 'dlq'] as const).map((place) => storage.listJobs({ place, limit: 100 })),
  )
  return { lists, totals: await storage.totals() }
}
