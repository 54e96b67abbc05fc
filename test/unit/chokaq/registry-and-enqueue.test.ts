/** What may be defined and enqueued; all else is refused with its code and nothing is stored. */

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { limits } from '../../../src/chokaq/jobs/limits.js'
import type { EnqueueOptions } from '../../../src/chokaq/enqueue/job-queue.js'
import { anything, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()
const ignore = (): void => undefined

const backoff = { baseMs: 1, factor: 1, capMs: 1, jitter: 0 }

describe('defining jobs', () => {
  it('refuses a key that is taken', () => {
    const { registry } = createWorld()
    registry.defineJob('a.v1', anything, ignore)
    expect(() => registry.defineJob('a.v1', anything, ignore)).toThrow(
      expect.objectContaining({ code: 'TYPE_DUPLICATE' }),
    )
    registry.defineJob('a.v2', anything, ignore)
    expect(registry.definitions().map(({ typeKey }) => typeKey)).toEqual(['a.v1', 'a.v2'])
  })

  it.each([
    ['', {}, 'TYPE_INVALID'],
    ['with space', {}, 'TYPE_INVALID'],
    ['x'.repeat(limits.typeLength + 1), {}, 'TYPE_INVALID'],
    ['a.v1', { queue: 'no/slash' }, 'QUEUE_INVALID'],
    ['a.v1', { priority: 101 }, 'PRIORITY_OUT_OF_RANGE'],
    ['a.v1', { maxAttempts: NaN }, 'OPTION_INVALID'],
    ['a.v1', { maxAttempts: 0 }, 'OPTION_INVALID'],
    ['a.v1', { maxAttempts: 1.5 }, 'OPTION_INVALID'],
    ['a.v1', { maxAgeMs: NaN }, 'OPTION_INVALID'],
    ['a.v1', { timeoutMs: NaN }, 'OPTION_INVALID'],
    ['a.v1', { timeoutMs: 0 }, 'OPTION_INVALID'],
    ['a.v1', { timeoutMs: '5s' as unknown as number }, 'OPTION_INVALID'],
    ['a.v1', { backoff: { ...backoff, baseMs: 0 } }, 'OPTION_INVALID'],
    ['a.v1', { backoff: { ...backoff, factor: NaN } }, 'OPTION_INVALID'],
    ['a.v1', { backoff: { ...backoff, capMs: 0.5 } }, 'OPTION_INVALID'],
    ['a.v1', { backoff: { ...backoff, jitter: 2 } }, 'OPTION_INVALID'],
  ])('refuses %j with %j as %s', (typeKey, options, code) => {
    const { registry } = createWorld()
    expect(() => registry.defineJob(typeKey, anything, ignore, options)).toThrow(
      expect.objectContaining({ code }),
    )
    expect(registry.definitions()).toEqual([])
  })
})

describe('a core', () => {
  it.each([
    [{ maxAttempts: NaN }, 'OPTION_INVALID'],
    [{ batchSize: 0 }, 'OPTION_INVALID'],
    [{ concurrency: NaN }, 'OPTION_INVALID'],
    [{ pollIntervalMs: NaN }, 'OPTION_INVALID'],
    [{ heartbeatMinMs: 30 }, 'OPTION_INVALID'],
    [{ zombieTimeoutMs: NaN }, 'OPTION_INVALID'],
    [{ zombieTimeoutMs: 20 }, 'QUEUE_LIMIT_INVALID'],
    [{ fetchedTimeoutMs: -1 }, 'OPTION_INVALID'],
    [{ archiveMs: NaN }, 'OPTION_INVALID'],
    [{ breaker: { failureThreshold: NaN, openMs: 1 } }, 'OPTION_INVALID'],
    [{ breaker: { failureThreshold: 1, openMs: NaN } }, 'OPTION_INVALID'],
    [{ backoff: { ...backoff, baseMs: NaN } }, 'OPTION_INVALID'],
    [{ owner: '' }, 'ACTOR_INVALID'],
  ])('with %j is refused as %s', (options, code) => {
    expect(() => createWorld({ options })).toThrow(expect.objectContaining({ code }))
  })

  it('may have no limit of age', () => {
    const { registry } = createWorld({ options: { maxAgeMs: Infinity } })
    const definition = registry.defineJob('a.v1', anything, ignore, { maxAgeMs: Infinity })
    expect(definition.options.maxAgeMs).toBe(Infinity)
  })
})

describe('resurrecting with another payload', () => {
  it('is refused where the payload does not fit the type, and nothing is changed', async () => {
    const { core, registry, storage } = createWorld()
    registry.defineJob('a.v1', z.object({ n: z.number() }), ignore)
    const { id } = await core.queue.enqueue('a.v1', { n: 1 })
    const [other] = await storage.enqueue([{ type: 'gone.v1', queue: 'q', payload: '1' }])
    const by = { by: 'ann', reason: 'x' }
    await storage.cancel([id, other?.id ?? ''], by)
    const resurrect = (jobId: string, payload: string) =>
      core.operator.resurrect(jobId, { by: 'ann', edits: { payload } })
    await expect(resurrect(id, '{"n":"2"}')).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringMatching(/does not fit a\.v1, nothing was changed: n: .*/) as string,
    })
    await expect(resurrect(id, '{')).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
    expect(await storage.findJob(id)).toMatchObject({ state: 'Cancelled', payload: '{"n":1}' })
    expect(await resurrect(id, '{"n":2}')).toEqual({ outcome: 'resurrected' })
    // What this process does not know, a newer worker may.
    expect(await resurrect(other?.id ?? '', '2')).toEqual({ outcome: 'resurrected' })
  })
})

describe('enqueueing', () => {
  it('stores a job as it was given, and tells and counts it', async () => {
    const { core, registry, storage, events, counted } = createWorld()
    const job = registry.defineJob('mail.v1', z.object({ to: z.string() }), ignore, {
      queue: 'mail',
      priority: 20,
    })
    const options = { tags: ['a', 'b'], createdBy: 'ann', idempotencyKey: 'k', delayMs: 60_000 }
    const { id, created } = await core.queue.enqueue(job, { to: 'x' }, options)
    expect(created).toBe(true)
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(await storage.findJob(id)).toMatchObject({
      state: 'Pending',
      type: 'mail.v1',
      queue: 'mail',
      priority: 20,
      payload: '{"to":"x"}',
      tags: ['a', 'b'],
      createdBy: 'ann',
      idempotencyKey: 'k',
      attempts: 0,
    })
    expect(events).toEqual([{ kind: 'job', id, queue: 'mail', state: 'Pending' }])
    expect(counted).toEqual(['enqueued mail mail.v1'])
  })

  it('gives the live job of a key, also within one call, and neither tells nor counts it', async () => {
    const { core, registry, counted } = createWorld()
    const job = registry.defineJob('a.v1', anything, ignore)
    const options = { idempotencyKey: 'same' }
    const answers = await core.queue.enqueueMany([
      { job, payload: 1, options },
      { job, payload: 2, options },
      { job, payload: 3 },
    ])
    const again = await core.queue.enqueue('a.v1', 4, options)
    expect(answers.map(({ created }) => created)).toEqual([true, false, true])
    expect(answers[1]?.id).toBe(answers[0]?.id)
    expect(again).toEqual({ id: answers[0]?.id, created: false })
    expect(counted).toHaveLength(2)
  })

  it('tells of many at once by one event, and stores nothing of an empty list', async () => {
    const { core, registry, events } = createWorld()
    const job = registry.defineJob('a.v1', anything, ignore)
    expect(await core.queue.enqueueMany([])).toEqual([])
    await core.queue.enqueueMany(Array.from({ length: 101 }, (_, payload) => ({ job, payload })))
    expect(events).toEqual([{ kind: 'jobs' }])
  })

  const refused: [string, unknown, EnqueueOptions, string][] = [
    ['a payload too large', { text: 'x'.repeat(limits.payloadBytes) }, {}, 'PAYLOAD_TOO_LARGE'],
    ['a payload that JSON has nothing for', undefined, {}, 'PAYLOAD_INVALID'],
    ['a payload that refers to itself', selfReference(), {}, 'PAYLOAD_INVALID'],
    ['a payload with a bigint', { text: 1n }, {}, 'PAYLOAD_INVALID'],
    ['a payload of another shape', { text: 5 }, {}, 'PAYLOAD_INVALID'],
    ['a priority below its range', { text: '' }, { priority: -1 }, 'PRIORITY_OUT_OF_RANGE'],
    ['a priority above its range', { text: '' }, { priority: 101 }, 'PRIORITY_OUT_OF_RANGE'],
    ['a priority that is no number', { text: '' }, { priority: NaN }, 'PRIORITY_OUT_OF_RANGE'],
    ['a negative delay', { text: '' }, { delayMs: -1 }, 'DELAY_INVALID'],
    ['a delay beyond all sense', { text: '' }, { delayMs: Infinity }, 'DELAY_INVALID'],
    ['too many tags', { text: '' }, { tags: Array.from({ length: 17 }, String) }, 'TAGS_INVALID'],
    ['a tag too long', { text: '' }, { tags: ['x'.repeat(65)] }, 'TAGS_INVALID'],
    ['an empty tag', { text: '' }, { tags: [''] }, 'TAGS_INVALID'],
    ['a queue with white space', { text: '' }, { queue: 'a b' }, 'QUEUE_INVALID'],
    ['an empty key', { text: '' }, { idempotencyKey: '' }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a long key', { text: '' }, { idempotencyKey: 'x'.repeat(256) }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a creator with U+0000', { text: '' }, { createdBy: 'a\0' }, 'ACTOR_INVALID'],
  ]
  it.each(refused)('refuses %s, with a code and with nothing stored', async (...row) => {
    const [, payload, options, code] = row
    const { core, registry, storage } = createWorld()
    registry.defineJob('a.v1', z.object({ text: z.string() }), ignore)
    const sound = { job: 'a.v1', payload: { text: '' } }
    const items = [sound, { job: 'a.v1', payload, options }]
    await expect(core.queue.enqueueMany<unknown>(items)).rejects.toMatchObject({ code })
    expect((await storage.listJobs({ place: 'hot', limit: 10 })).items).toEqual([])
  })

  it('refuses a type that is not defined, naming those that are', async () => {
    const { core, registry } = createWorld()
    registry.defineJob('a.v1', anything, ignore)
    await expect(core.queue.enqueue('a.v2', {})).rejects.toMatchObject({
      code: 'TYPE_UNKNOWN',
      message: 'No job type "a.v2" is defined. Known: a.v1.',
    })
  })

  it('checks a payload as it comes back from JSON', async () => {
    const { core, registry } = createWorld()
    const job = registry.defineJob('a.v1', z.object({ at: z.date() }), ignore)
    await expect(core.queue.enqueue(job, { at: new Date() })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringContaining('at: ') as string,
    })
  })
})

function selfReference(): unknown {
  const payload: Record<string, unknown> = {}
  payload['self'] = payload
  return payload
}
