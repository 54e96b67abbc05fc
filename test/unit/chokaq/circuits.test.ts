/** The circuits of job types: what opens them, what does not, and what becomes of the jobs. */

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { FatalJobError } from '../../../src/chokaq/worker/job-errors.js'
import { waitFor } from '../../support/wait-for.js'
import { anything, untilAborted, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()

describe("a type's circuit", () => {
  const breaker = { failureThreshold: 2, openMs: 3_600_000 }
  const options = { breaker, concurrency: 1, batchSize: 1, maxAttempts: 1 }

  it.each(['error', 'timeout'])(
    'is opened by %s; then jobs wait and burn no attempt',
    async (how) => {
      const { core, registry, storage, until } = createWorld({
        options: { ...options, timeoutMs: 20 },
      })
      registry.defineJob(
        'a.v1',
        anything,
        how === 'timeout' ? untilAborted : () => Promise.reject(new Error('no')),
      )
      registry.defineJob('other.v1', anything, () => undefined)
      core.start()
      for (let n = 0; n < 2; n += 1) {
        await until((await core.queue.enqueue('a.v1', n)).id, 'Failed')
      }
      expect(core.worker.status().circuits.get('a.v1')).toBe('open')
      const { id } = await core.queue.enqueue('a.v1', 'waits')
      const other = await core.queue.enqueue('other.v1', 'runs')
      await until(other.id, 'Succeeded')
      const postponed = await waitFor('the job to be postponed', async () => {
        const job = await storage.findJob(id)
        return job?.place === 'hot' && job.state === 'Pending' && job.dueAtMs > Date.now() && job
      })
      expect(postponed.attempts).toBe(0)
    },
  )

  it('is left alone by fatal errors and payloads that do not fit', async () => {
    const { core, registry, storage, until } = createWorld({ options })
    registry.defineJob('a.v1', z.number(), () => {
      throw new FatalJobError('at fault')
    })
    core.start()
    for (let n = 0; n < 5; n += 1) {
      await until((await core.queue.enqueue('a.v1', n)).id, 'Failed')
      const [bad] = await storage.enqueue([{ type: 'a.v1', queue: 'default', payload: '"x"' }])
      await until(bad?.id ?? '', 'Failed')
    }
    expect(core.worker.status().circuits.get('a.v1')).toBe('closed')
  })

  it('lets no job that has run escape its maximum age', async () => {
    const { core, registry, until } = createWorld({
      options: { ...options, maxAttempts: 3, maxAgeMs: 60_000 },
    })
    registry.defineJob('a.v1', anything, () => Promise.reject(new Error('no')))
    core.start()
    const { id } = await core.queue.enqueue('a.v1', 'its second failure opens the circuit')
    expect(await until(id, 'Failed')).toMatchObject({ reason: 'CircuitBreakerOpen', attempts: 2 })
  })

  it('buries no job that has never run, however long it has waited', async () => {
    const { core, registry, storage, until } = createWorld({
      options: { ...options, maxAgeMs: 60_000 },
    })
    registry.defineJob('a.v1', anything, () => Promise.reject(new Error('no')))
    core.start()
    for (let n = 0; n < 2; n += 1) {
      await until((await core.queue.enqueue('a.v1', n)).id, 'Failed')
    }
    const { id } = await core.queue.enqueue('a.v1', 'waits an hour')
    const held = await waitFor('the job to be postponed', async () => {
      const job = await storage.findJob(id)
      return job?.place === 'hot' && job.dueAtMs > Date.now() && job
    })
    expect(held).toMatchObject({ state: 'Pending', attempts: 0 })
  })
})
