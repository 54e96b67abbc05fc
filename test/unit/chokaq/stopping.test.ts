/** Stopping in good order: what was only fetched goes back, what runs may end, the rest is handed on. */

import { describe, expect, it } from 'vitest'
import { waitFor } from '../../support/wait-for.js'
import { anything, gate, startHeldJob, untilAborted, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()

describe('stopping', () => {
  it('gives back what was only fetched, no attempt spent, and lets runs end', async () => {
    const { core, registry, storage, until } = createWorld({
      options: { concurrency: 3 },
      // A clock that stands still keeps the pace of the quick job, however busy the machine is.
      now: () => 0,
    })
    const { opened, open } = gate()
    const job = registry.defineJob('a.v1', anything, () => opened)
    // The pace of one quick job lets the worker fetch ahead of its lanes, and not start.
    const quick = registry.defineJob('quick.v1', anything, () => undefined, { priority: 90 })
    await core.queue.enqueue(quick, 0)
    const items = Array.from({ length: 30 }, (_, payload) => ({ job, payload }))
    const answers = await core.queue.enqueueMany(items)
    core.start()
    const running = await waitFor('all lanes to be taken', async () => {
      const { items: live } = await storage.listJobs({ place: 'hot', limit: 100 })
      const [busy, fetched] = ['Processing', 'Fetched'].map((state) =>
        live.filter((one) => one.state === state && one.type === 'a.v1'),
      )
      return busy?.length === 3 && (fetched?.length ?? 0) > 0 && busy
    })
    const stopped = core.stop(10_000)
    await waitFor('the fetched ones to be back', async () => {
      const { items: live } = await storage.listJobs({ place: 'hot', limit: 100 })
      return live.every(({ state }) => state !== 'Fetched')
    })
    open()
    await stopped
    for (const { id } of running) await until(id, 'Succeeded')
    const { items: left } = await storage.listJobs({ place: 'hot', limit: 100 })
    expect(left).toHaveLength(answers.length - 3)
    expect(left.filter(({ state, attempts }) => state !== 'Pending' || attempts !== 0)).toEqual([])
  })

  it('aborts what does not end in the grace and hands it on with its attempt', async () => {
    const { core, registry, until, counted } = createWorld()
    registry.defineJob('a.v1', anything, untilAborted)
    registry.defineJob('deaf.v1', anything, () => new Promise(() => undefined))
    const ids = [
      (await core.queue.enqueue('a.v1', {})).id,
      (await core.queue.enqueue('deaf.v1', {})).id,
    ]
    core.start()
    for (const id of ids) await until(id, 'Processing')
    await core.stop(400)
    // A stall of the machine may have used up the grace: then the writes end a moment later.
    for (const id of ids) expect(await until(id, 'Pending')).toMatchObject({ attempts: 0 })
    expect(counted.filter((line) => /retried|failed/.test(line))).toEqual([])
  })

  it('bears being called before the start, twice, and a start that comes after', async () => {
    const { core, registry, storage } = createWorld()
    registry.defineJob('a.v1', anything, () => undefined)
    const { id } = await core.queue.enqueue('a.v1', {})
    await core.stop(100)
    core.start()
    await core.stop(100)
    expect(await storage.findJob(id)).toMatchObject({ state: 'Pending' })
  })

  it('ends in the grace while the storage is away, and says what it could not write', async () => {
    let away = false
    const world = createWorld({
      around: (storage) => ({
        ...storage,
        succeed: (items) => (away ? Promise.reject(new Error('gone')) : storage.succeed(items)),
      }),
    })
    const { core, lines } = world
    const { id, open } = await startHeldJob(world)
    away = true
    open()
    await core.stop(300)
    await waitFor('the loss to be told', () =>
      lines.some(({ message, jobId }) => message === 'job outcome not stored' && jobId === id),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({ message: 'jobs left unsettled', jobs: 1 }),
    )
  })
})
