/** A fetch whose answer is lost: what it has taken goes back, runs once, and costs no attempt. */

import { describe, expect, it } from 'vitest'
import type { JobDefinitionOptions } from '../../../src/chokaq/registry/job-definition.js'
import { waitFor } from '../../support/wait-for.js'
import { anything, gate, startHeldJob, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()
const lost = (): Promise<never> => Promise.reject(new Error('connection lost'))

describe('a storage that loses the answer of a fetch', () => {
  it('gives its jobs back as soon as it answers again, and they run', async () => {
    let failures = 1
    const { core, registry, until, lines } = createWorld({
      around: (storage) => ({
        ...storage,
        fetch: async (request) => {
          const jobs = await storage.fetch(request)
          return (failures -= 1) >= 0 ? lost() : jobs
        },
      }),
    })
    const attempts: number[] = []
    registry.defineJob('a.v1', anything, ({ attempt }) => void attempts.push(attempt))
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    await until(id, 'Succeeded')
    expect(attempts).toEqual([1])
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'jobs of a lost fetch', jobs: 1 }),
    )
  })

  it('that starts them, too: they run once, at their first attempt', async () => {
    let lostJobs = 0
    const { core, registry, storage, lines, counted } = createWorld({
      // A clock that stands still keeps the pace that quick jobs have shown.
      now: () => 0,
      around: (inner) => ({
        ...inner,
        fetch: async (request) => {
          const jobs = await inner.fetch(request)
          if (request.start !== true || lostJobs > 0) return jobs
          lostJobs = jobs.length
          return lost()
        },
      }),
    })
    const runs: string[] = []
    const job = registry.defineJob('a.v1', anything, ({ id, attempt }) => {
      runs.push(`${id} ${attempt}`)
    })
    const enqueued = await core.queue.enqueueMany(
      Array.from({ length: 200 }, (_, payload) => ({ job, payload })),
    )
    core.start()
    await waitFor('all to be done', () => counted.length === 400)
    expect(runs.sort()).toEqual(enqueued.map(({ id }) => `${id} 1`).sort())
    expect(lostJobs).toBeGreaterThan(0)
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'jobs of a lost fetch', jobs: lostJobs }),
    )
    expect((await storage.listJobs({ place: 'hot', limit: 1 })).items).toEqual([])
  })

  it.each(['refused', 'a fault of the program'])(
    'keeps a job whose handler has run and whose end is %s',
    async (what) => {
      let fetchFails = false
      let looks = 0
      const { core, registry, storage, lines, until } = createWorld({
        around: (inner) => ({
          ...inner,
          succeed: (items) =>
            Promise.resolve(
              items.map(() => ({ outcome: 'refused', error: new Error('a trigger says no') })),
            ),
          fetch: (request) => (fetchFails ? lost() : inner.fetch(request)),
          giveBackLost: (request) => {
            looks += 1
            return inner.giveBackLost(request)
          },
        }),
      })
      let runs = 0
      const options: JobDefinitionOptions = {
        // Asked for at the end of a run that has failed, where nothing expects it to fail itself.
        get backoff() {
          if (runs > 0) throw new Error('no such setting')
          return undefined
        },
      }
      const handler = (): void => {
        runs += 1
        if (what !== 'refused') throw new Error('broken')
      }
      registry.defineJob('a.v1', anything, handler, options)
      const { id } = await core.queue.enqueue('a.v1', 1)
      core.start()
      await waitFor('the run to be over', () => lines.some(({ level }) => level === 'error'))
      fetchFails = true
      core.queue.wake()
      await waitFor('a fetch to fail', () =>
        lines.some(({ message }) => message === 'jobs can not be fetched'),
      )
      fetchFails = false
      await waitFor('the look for lost ones', () => looks > 0)
      expect(await until(id, 'Processing')).toMatchObject({ attempts: 1 })
      expect((await storage.findJob(id))?.owner).toBe('test-worker')
      expect(runs).toBe(1)
    },
  )

  it('on the way to a stop: nothing stays Fetched', async () => {
    const fetched = gate()
    const { core, storage } = createWorld({
      around: (inner) => ({
        ...inner,
        fetch: async (request) => {
          await inner.fetch(request)
          fetched.open()
          return lost()
        },
      }),
    })
    const [job] = await storage.enqueue([{ type: 'a.v1', queue: 'q', payload: '{}' }])
    core.start()
    await fetched.opened
    await core.stop(2_000)
    expect(await storage.findJob(job?.id ?? '')).toMatchObject({ state: 'Pending', attempts: 0 })
  })

  it('after a stop that could not store an outcome: what has run stays with the rescue', async () => {
    let away = false
    const [fetching, answer] = [gate(), gate()]
    const world = createWorld({
      around: (inner) => ({
        ...inner,
        fetch: async (request) => {
          if (!away) return inner.fetch(request)
          fetching.open()
          await answer.opened
          return lost()
        },
        succeed: (items) => (away ? lost() : inner.succeed(items)),
      }),
    })
    const { core, storage, lines } = world
    const { id, open } = await startHeldJob(world)
    away = true
    await fetching.opened
    open()
    await core.stop(300)
    await waitFor('the loss to be told', () =>
      lines.some(({ message }) => message === 'job outcome not stored'),
    )
    answer.open()
    await waitFor('the fetch to have failed', () =>
      lines.some(({ message }) => message === 'jobs can not be fetched'),
    )
    expect(await storage.findJob(id)).toMatchObject({ state: 'Processing', attempts: 1 })
  })
})
