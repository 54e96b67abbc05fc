/** What the worker does when its storage fails: it waits, goes on by itself, and runs nothing twice. */

import { describe, expect, it } from 'vitest'
import { rescueIntervalMs } from '../../../src/chokaq/upkeep/rescue-pass.js'
import { waitFor } from '../../support/wait-for.js'
import { anything, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()
const lost = (): Promise<never> => Promise.reject(new Error('connection lost'))

describe('a storage that fails', () => {
  it('while fetching is told of once; the loop keeps trying and goes on by itself', async () => {
    let failures = 3
    const { core, registry, until, lines } = createWorld({
      around: (storage) => ({
        ...storage,
        fetch: (request) => ((failures -= 1) >= 0 ? lost() : storage.fetch(request)),
      }),
    })
    registry.defineJob('a.v1', anything, () => undefined)
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    await until(id, 'Succeeded')
    await waitFor('a further look', () => core.worker.lastTryAgeMs() < 1_000)
    const told = lines.filter(({ event }) => String(event).startsWith('jobs can'))
    expect(told.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn jobs can not be fetched',
      'info jobs can be fetched again',
    ])
  })

  it.each(['before', 'after'])(
    'Q4: at the outcome, %s it was stored, makes nothing run twice and nothing counted twice',
    async (when) => {
      let failures = 3
      const { core, registry, until, counted } = createWorld({
        around: (storage) => ({
          ...storage,
          succeed: async (items) => {
            if ((failures -= 1) < 0) return storage.succeed(items)
            if (when === 'after') await storage.succeed(items)
            return lost()
          },
        }),
      })
      let runs = 0
      registry.defineJob('a.v1', anything, () => void (runs += 1))
      const { id } = await core.queue.enqueue('a.v1', {})
      core.start()
      await until(id, 'Succeeded')
      await waitFor('it to be counted', () => counted.includes('succeeded default a.v1'))
      expect(runs).toBe(1)
      expect(counted).toEqual(['enqueued default a.v1', 'succeeded default a.v1'])
    },
  )

  it.each(['before', 'after'])(
    'at the start, %s it was stored, costs the job no attempt',
    async (when) => {
      let failures = 1
      const { core, registry, until } = createWorld({
        around: (storage) => ({
          ...storage,
          start: async (leases) => {
            if ((failures -= 1) < 0) return storage.start(leases)
            if (when === 'after') await storage.start(leases)
            return lost()
          },
        }),
      })
      const attempts: number[] = []
      registry.defineJob('a.v1', anything, ({ attempt }) => void attempts.push(attempt))
      const { id } = await core.queue.enqueue('a.v1', {})
      core.start()
      await until(id, 'Succeeded')
      expect(attempts).toEqual([1])
    },
  )

  it.each([
    ['the worker', { zombieTimeoutMs: 60 }],
    [
      "the job's queue",
      { queueSettings: [{ name: 'default', settings: { zombieTimeoutMs: 60 } }] },
    ],
  ])(
    'at heartbeats longer than %s allows ends the run: others may have taken it',
    async (_whose, options) => {
      const { core, registry, storage, until } = createWorld({
        options: { ...options, maxAttempts: 1 },
        around: (storage) => ({
          ...storage,
          heartbeat: lost,
          // Nobody's rescue comes first, however busy the machine is.
          rescue: () => Promise.resolve({ givenBack: [], zombies: [], refused: [] }),
        }),
      })
      registry.defineJob(
        'a.v1',
        anything,
        ({ signal }) =>
          new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
          ),
      )
      await storage.seedQueues(
        ('queueSettings' in options ? options.queueSettings : undefined) ?? [],
      )
      const { id } = await core.queue.enqueue('a.v1', {})
      core.start()
      expect(await until(id, 'Failed')).toMatchObject({ reason: 'HeartbeatFailure' })
    },
  )

  it('is never expected sooner than its heartbeats: such a zombie timeout is refused', async () => {
    const { core, storage } = createWorld()
    const change = (zombieTimeoutMs: number) =>
      core.operator.changeQueue('q', { zombieTimeoutMs }, { by: 'ops' })
    await expect(change(20)).rejects.toMatchObject({ code: 'QUEUE_LIMIT_INVALID' })
    expect(await storage.listQueues()).toEqual([])
    expect(await change(21)).toMatchObject({ settings: { zombieTimeoutMs: 21 } })
    const queueSettings = [{ name: 'q', settings: { zombieTimeoutMs: 20 } }]
    expect(() => createWorld({ options: { queueSettings } })).toThrow(/longest heartbeat/)
  })

  it('by refusing one job holds up no other, and nobody starts it in a hot loop', async () => {
    let refusals = 0
    const refused = { outcome: 'refused', error: new Error('a trigger says no') } as const
    const { core, registry, storage, until, lines } = createWorld({
      around: (inner) => ({
        ...inner,
        start: async (leases) => {
          const jobs = await Promise.all(leases.map(({ jobId }) => inner.findJob(jobId)))
          const answers = await Promise.all(
            leases.map(async (lease, n) => {
              if (jobs[n]?.tags.includes('refused') === true) return refused
              const [answer] = await inner.start([lease])
              return answer ?? refused
            }),
          )
          refusals += answers.filter(({ outcome }) => outcome === 'refused').length
          return answers
        },
      }),
    })
    registry.defineJob('a.v1', anything, () => undefined)
    const bad = await core.queue.enqueue('a.v1', 0, { tags: ['refused'], priority: 100 })
    const good = await core.queue.enqueue('a.v1', 1)
    core.start()
    await until(good.id, 'Succeeded')
    await waitFor('the refused one to be back', async () => {
      const job = await storage.findJob(bad.id)
      return job?.place === 'hot' && job.state === 'Pending' && job.dueAtMs > Date.now()
    })
    expect(refusals).toBe(1)
    expect(lines).toContainEqual(expect.objectContaining({ message: 'job move refused' }))
  })
})

describe('the rescue', () => {
  it('gives back what had not begun, buries what had, tells and counts the zombies', async () => {
    const { core, storage, until, counted, events } = createWorld({
      options: { fetchedTimeoutMs: 50, zombieTimeoutMs: 50, queues: ['nothing'] },
    })
    const two = Array.from({ length: 2 }, () => ({ type: 'a.v1', queue: 'q', payload: '{}' }))
    const [fetched, started] = await storage.enqueue(two)
    const jobs = await storage.fetch({ owner: 'dead worker', limit: 2 })
    const lease = jobs.find((job) => job.lease.jobId === started?.id)?.lease
    await storage.start(lease === undefined ? [] : [lease])
    core.start()
    expect(await until(started?.id ?? '', 'Zombie')).toMatchObject({
      reason: 'Zombie',
      attempts: 1,
    })
    expect(await until(fetched?.id ?? '', 'Pending')).toMatchObject({ attempts: 0 })
    expect(counted).toEqual(['failed q a.v1 Zombie'])
    expect(events).toContainEqual({ kind: 'job', id: started?.id, queue: 'q', state: 'Zombie' })
  })

  it('P8: goes on beside a job that the storage will not let go, and tells of it once', async () => {
    let passes = 0
    const dead = (id: string) => ({ id, type: 'a.v1', queue: 'q', owner: 'dead worker' })
    const { core, lines, counted } = createWorld({
      options: { fetchedTimeoutMs: 10, zombieTimeoutMs: 30 },
      around: (storage) => ({
        ...storage,
        rescue: () => {
          passes += 1
          const zombies = passes === 1 ? [dead('first'), dead('third')] : []
          const refused = [{ ...dead('second'), error: new Error('a trigger says no') }]
          return Promise.resolve({ givenBack: [], zombies, refused })
        },
      }),
    })
    core.start()
    await waitFor('a second pass', () => passes >= 2)
    expect(counted).toEqual(['failed q a.v1 Zombie', 'failed q a.v1 Zombie'])
    const refusals = lines.filter(({ message }) => message === 'job rescue refused')
    expect(refusals.map(({ jobId }) => jobId)).toEqual(['second'])
  })

  it('looks soon after the shortest silence, and no idle database more than once a second', () => {
    const interval = (fetchedTimeoutMs: number, zombieTimeoutMs: number) =>
      rescueIntervalMs({ fetchedTimeoutMs, zombieTimeoutMs })
    expect(interval(600_000, 600_000)).toBe(30_000)
    expect(interval(60_000, 600_000)).toBe(6_000)
    expect(interval(10, 600_000)).toBe(1_000)
  })
})
