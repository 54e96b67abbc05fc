/** Started with the claim and waiting for a lane: what was not run costs no attempt and stands in nobody's way. */

import { describe, expect, it } from 'vitest'
import { waitFor } from '../../support/wait-for.js'
import { anything, gate, untilAborted, useCoreWorlds, type WorldOptions } from './core-world.js'

const createWorld = useCoreWorlds()
const quickOnes = 60

/** One lane that holds long work, and behind it a job that its claim has started: `waiting`. */
async function createCrowd({ options, around }: WorldOptions = {}) {
  const world = createWorld({
    options: { concurrency: 1, batchSize: 5, ...options },
    // A clock that stands still keeps the pace that the quick ones have shown.
    now: () => 0,
    ...(around && { around }),
  })
  const { core, registry, until } = world
  const { opened, open } = gate()
  const ran = new Set<unknown>()
  registry.defineJob('quick.v1', anything, ({ payload }) => void ran.add(payload))
  registry.defineJob('long.v1', anything, () => opened, { priority: 90 })
  await core.queue.enqueueMany(
    Array.from({ length: quickOnes }, (_, payload) => ({ job: 'quick.v1', payload })),
  )
  core.start()
  await waitFor('the quick ones', () => ran.size === quickOnes)
  await core.queue.enqueue('long.v1', 0)
  await waitFor('the long one', () => core.worker.status().running === 1)
  const { id } = await core.queue.enqueue('quick.v1', 'waiting')
  expect(await until(id, 'Processing')).toMatchObject({ attempts: 1 })
  /** The clock stands still, so the worker thinks itself quick and may have claimed it once more already. */
  const pendings = () =>
    world.events.filter(
      (event) => event.kind === 'job' && event.id === id && event.state === 'Pending',
    ).length
  const wasBack = () => waitFor('it to be Pending once more', () => pendings() > 1)
  return { ...world, waiting: id, open, ran, wasBack }
}

describe('a started job that waits for its lane', () => {
  it('goes back after a while, so that others find it', async () => {
    const { waiting, until, ran, open, wasBack } = await createCrowd()
    await wasBack()
    expect(ran).not.toContain('waiting')
    open()
    expect(await until(waiting, 'Succeeded')).toMatchObject({ attempts: 1 })
  })

  it('is cancelled at once, no attempt on record', async () => {
    const { core, waiting, until, ran } = await createCrowd()
    await core.operator.cancel(waiting, { by: 'ops', reason: 'wrong' })
    const dead = await until(waiting, 'Cancelled')
    expect(dead).toMatchObject({ attempts: 0, details: 'cancelled by ops: wrong' })
    expect(ran).not.toContain('waiting')
  })

  it('is no dead letter where the storage is silent, and runs when it answers again', async () => {
    let deaf = false
    let beats = 0
    const { waiting, until, open, counted, wasBack } = await createCrowd({
      options: { maxAttempts: 1, zombieTimeoutMs: 60 },
      around: (storage) => ({
        ...storage,
        heartbeat: (items) => {
          beats += 1
          return deaf ? Promise.reject(new Error('gone')) : storage.heartbeat(items)
        },
      }),
    })
    deaf = true
    await wasBack()
    deaf = false
    open()
    expect(await until(waiting, 'Succeeded')).toMatchObject({ attempts: 1 })
    expect(beats).toBeGreaterThan(0)
    expect(counted.filter((line) => line.startsWith('failed default quick'))).toEqual([])
  })

  it('is looked for while there is no room, where the answer of its fetch was lost', async () => {
    let lost = 0
    const { core, storage, lines } = await createCrowd({
      around: (inner) => ({
        ...inner,
        fetch: async (request) => {
          const jobs = await inner.fetch(request)
          const own = jobs.filter(({ payload }) => payload === '"lost"')
          if (own.length === 0 || lost > 0) return jobs
          lost = own.length
          throw new Error('connection lost')
        },
      }),
    })
    const { id } = await core.queue.enqueue('quick.v1', 'lost')
    await waitFor('the look', () => lines.some(({ event }) => event === 'jobs of a lost fetch'))
    expect(core.worker.status().running).toBe(1)
    expect(await storage.findJob(id)).not.toMatchObject({ state: 'Succeeded' })
  })

  it('goes back at a stop, in its old place', async () => {
    const { core, waiting, storage } = await createCrowd()
    const before = await storage.findJob(waiting)
    await core.stop(200)
    const after = await storage.findJob(waiting)
    expect(after).toMatchObject({ state: 'Pending', attempts: 0, lastError: undefined })
    expect(after).toHaveProperty('dueAtMs', (before as { dueAtMs: number }).dueAtMs)
  })
})

describe('a worker', () => {
  it('begins no handler after it was told to stop, however late the start is answered', async () => {
    const asked = gate()
    const answer = gate()
    const { core, registry, storage } = createWorld({
      around: (inner) => ({
        ...inner,
        start: async (leases) => {
          const answers = await inner.start(leases)
          asked.open()
          await answer.opened
          return answers
        },
      }),
    })
    let begun = 0
    registry.defineJob('a.v1', anything, (job) => {
      begun += 1
      return untilAborted(job)
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    await asked.opened
    const stopped = core.stop(2_000)
    answer.open()
    await stopped
    expect(begun).toBe(0)
    expect(await storage.findJob(id)).toMatchObject({ state: 'Pending', attempts: 0 })
  })

  it('runs what it claims in its order', async () => {
    const { core, registry } = createWorld({ now: () => 0 })
    const order: unknown[] = []
    registry.defineJob('a.v1', anything, ({ payload }) => void order.push(payload))
    await core.queue.enqueueMany(
      Array.from({ length: 200 }, (_, payload) => ({ job: 'a.v1', payload })),
    )
    core.start()
    await waitFor('all', () => order.length === 200)
    expect(order).toEqual([...order].sort((a, b) => Number(a) - Number(b)))
  })

  it('turns thousands away at once, and itself stays whole', async () => {
    const jobs = 12_000
    const { core, storage, lines } = createWorld({
      options: { concurrency: 10_000, batchSize: 10_000 },
    })
    await storage.enqueue(
      Array.from({ length: jobs }, () => ({ type: 'unknown.v1', queue: 'q', payload: '1' })),
    )
    core.start()
    await waitFor('all to be dead letters', async () => {
      const [totals] = await storage.totals()
      return totals?.failed === jobs
    })
    expect(lines.filter(({ message }) => message === 'job processing failed')).toEqual([])
  })
})
