/** What the worker makes of jobs: phases 2 to 4 of a job's life. */

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { FatalJobError, RetryAfterError } from '../../../src/chokaq/worker/job-errors.js'
import { waitFor } from '../../support/wait-for.js'
import { anything, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()

describe('a handler that succeeds', () => {
  it('leaves its job in the archive with its duration; told and counted', async () => {
    const { core, registry, until, counted, events } = createWorld()
    const seen: unknown[] = []
    const job = registry.defineJob('a.v1', z.object({ n: z.number() }), (context) => {
      const { id, typeKey, queue, attempt, payload, tags, createdBy, idempotencyKey } = context
      seen.push({ id, typeKey, queue, attempt, payload, tags, createdBy, idempotencyKey })
    })
    const options = { tags: ['t'], createdBy: 'ann', idempotencyKey: 'k', queue: 'q' }
    const { id } = await core.queue.enqueue(job, { n: 5 }, options)
    core.start()
    const archived = await until(id, 'Succeeded')
    expect(archived).toMatchObject({ place: 'archive', attempts: 1, owner: 'test-worker' })
    expect(archived).toHaveProperty('durationMs', expect.any(Number))
    expect(seen).toEqual([{ id, typeKey: 'a.v1', attempt: 1, payload: { n: 5 }, ...options }])
    expect(counted).toEqual(['enqueued q a.v1', 'succeeded q a.v1'])
    expect(events.map((event) => (event.kind === 'job' ? event.state : event.kind))).toEqual([
      'Pending',
      'Processing',
      'Succeeded',
    ])
  })

  it('is woken by an enqueue, however far the next poll is', async () => {
    const { core, registry, until } = createWorld({ options: { pollIntervalMs: 3_600_000 } })
    registry.defineJob('a.v1', anything, () => undefined)
    core.start()
    for (let n = 0; n < 3; n += 1) {
      const { id } = await core.queue.enqueue('a.v1', n)
      await until(id, 'Succeeded')
    }
  })

  it('works off a queue with MaxWorkers 1 without waiting for polls', async () => {
    const { core, registry, storage, until } = createWorld({
      options: {
        pollIntervalMs: 3_600_000,
        queueSettings: [{ name: 'narrow', settings: { maxWorkers: 1 } }],
      },
    })
    let [running, most] = [0, 0]
    const job = registry.defineJob('a.v1', anything, async () => {
      most = Math.max(most, (running += 1))
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
    })
    core.start()
    await waitFor('the queue to be seeded', async () => (await storage.listQueues()).length === 1)
    const options = { queue: 'narrow' }
    const items = Array.from({ length: 20 }, (_, payload) => ({ job, payload, options }))
    const answers = await core.queue.enqueueMany(items)
    for (const { id } of answers) await until(id, 'Succeeded')
    expect(most).toBe(1)
  })
})

describe('a handler that fails', () => {
  it('is run again up to MaxAttempts runs; then a dead letter with all details', async () => {
    const { core, registry, until, counted, lines } = createWorld()
    const attempts: number[] = []
    registry.defineJob('a.v1', anything, ({ attempt }) => {
      attempts.push(attempt)
      throw new Error(`no luck \0 ${attempt}`, { cause: new Error('the disk is full') })
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    const dead = await until(id, 'Failed')
    expect(attempts).toEqual([1, 2, 3])
    expect(dead).toMatchObject({ reason: 'MaxRetriesExceeded', attempts: 3 })
    expect(dead).toHaveProperty(
      'details',
      expect.stringMatching(/no luck \uFFFD 3[^]*disk is full/),
    )
    expect(counted).toEqual([
      'enqueued default a.v1',
      'retried default a.v1',
      'retried default a.v1',
      'failed default a.v1 MaxRetriesExceeded',
    ])
    expect(lines.map(({ message }) => message)).toEqual(['job retry', 'job retry', 'job failed'])
  })

  it('waits as long as a RetryAfterError asks, beyond its own backoff', async () => {
    const { core, registry, storage } = createWorld()
    registry.defineJob('a.v1', anything, () => {
      throw new RetryAfterError('slow down', 30_000)
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    const due = await waitFor('the retry', async () => {
      const job = await storage.findJob(id)
      return job?.place === 'hot' && job.state === 'Pending' && job.attempts === 1 && job.dueAtMs
    })
    expect(due - Date.now()).toBeGreaterThan(25_000)
    expect(due - Date.now()).toBeLessThanOrEqual(30_000)
  })

  it('is a dead letter at once where its error is fatal, whatever throws it', async () => {
    const { core, registry, until, counted } = createWorld()
    registry.defineJob('fatal.v1', anything, () => {
      throw new FatalJobError('never')
    })
    registry.defineJob('slip.v1', anything, () => {
      ;(undefined as unknown as { x: () => void }).x()
    })
    registry.defineJob(
      'own.v1',
      anything,
      () => {
        throw new Error('gone')
      },
      { classify: (error) => ((error as Error).message === 'gone' ? 'fatal' : undefined) },
    )
    core.start()
    for (const type of ['fatal.v1', 'slip.v1', 'own.v1']) {
      const { id } = await core.queue.enqueue(type, {})
      expect(await until(id, 'Failed')).toMatchObject({ reason: 'FatalError', attempts: 1 })
      expect(counted).toContain(`failed default ${type} FatalError`)
    }
  })

  it('stops when the next run would begin beyond its maximum age', async () => {
    const { core, registry, until } = createWorld({
      options: { maxAttempts: 1_000, maxAgeMs: 10_000 },
    })
    registry.defineJob('a.v1', anything, () => {
      throw new RetryAfterError('tomorrow', 11_000)
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    expect(await until(id, 'Failed')).toMatchObject({ reason: 'RetryLifetimeExpired', attempts: 1 })
  })
})

describe('a job that was to wait longer than its maximum age', () => {
  it('is as young as any other when it is due, and has all its runs', async () => {
    const { core, registry, storage, until, advance } = createWorld({
      options: { maxAgeMs: 3_600_000 },
    })
    registry.defineJob('a.v1', anything, () => {
      throw new Error('no')
    })
    const { id } = await core.queue.enqueue('a.v1', {}, { delayMs: 7_200_000 })
    core.start()
    expect(await storage.findJob(id)).toMatchObject({ state: 'Pending', attempts: 0 })
    advance(7_200_000)
    expect(await until(id, 'Failed')).toMatchObject({ reason: 'MaxRetriesExceeded', attempts: 3 })
  })
})

describe('a job that can not be run at all', () => {
  it('found in the table with an unknown type, or a payload of another shape, burns no attempt', async () => {
    const { core, registry, storage, until, counted } = createWorld()
    const handled: unknown[] = []
    registry.defineJob(
      'a.v1',
      z.object({ n: z.number() }),
      ({ payload }) => void handled.push(payload),
    )
    const [unknown, wrong] = await storage.enqueue([
      { type: 'gone.v1', queue: 'q', payload: '{}' },
      { type: 'a.v1', queue: 'q', payload: '{"n":"secret"}' },
    ])
    core.start()
    expect(await until(unknown?.id ?? '', 'Failed')).toMatchObject({
      reason: 'UnknownType',
      attempts: 0,
    })
    const dead = await until(wrong?.id ?? '', 'Failed')
    expect(dead).toMatchObject({ reason: 'InvalidPayload', attempts: 0 })
    expect(dead).toHaveProperty('details', expect.stringContaining('n: '))
    expect(dead).not.toHaveProperty('details', expect.stringContaining('secret'))
    expect(handled).toEqual([])
    expect(counted).toContain('failed q gone.v1 UnknownType')
    expect(counted).toContain('failed q a.v1 InvalidPayload')
  })
})
