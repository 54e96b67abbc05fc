/** What is around a handler may be at fault too: its schema, its `classify`, the error that it throws. */

import { describe, expect, it } from 'vitest'
import type { FailureKind } from '../../../src/chokaq/kernel/failure.js'
import { describeError } from '../../../src/telemetry/describe-error.js'
import { RetryAfterError } from '../../../src/chokaq/worker/job-errors.js'
import { waitFor } from '../../support/wait-for.js'
import { readPayload } from '../../../src/chokaq/registry/payload-schema.js'
import { anything, gate, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()

describe('a schema that fails itself', () => {
  it.each([
    ['throws', () => Promise.reject(new Error('quotes secret'))],
    ['answers nothing', () => undefined],
    ['throws no Error', () => Promise.reject(Symbol('secret') as unknown as Error)],
  ])('and %s makes dead letters and holds up no other type', async (_how, validate) => {
    const { core, registry, storage, until } = createWorld({ options: { concurrency: 1 } })
    const broken = { '~standard': { version: 1, vendor: 'test', validate } }
    registry.defineJob('bad.v1', broken as unknown as typeof anything, () => undefined)
    registry.defineJob('good.v1', anything, () => undefined)
    const bad = await storage.enqueue(
      Array.from({ length: 3 }, () => ({ type: 'bad.v1', queue: 'q', payload: '{}' })),
    )
    const good = await core.queue.enqueue('good.v1', {})
    core.start()
    await until(good.id, 'Succeeded')
    for (const { id } of bad) {
      const dead = await until(id, 'Failed')
      expect(dead).toMatchObject({ reason: 'InvalidPayload', attempts: 0 })
      expect(dead).toHaveProperty('details', expect.stringContaining('the schema itself failed'))
      expect(dead).not.toHaveProperty('details', expect.stringContaining('secret'))
    }
    await expect(core.queue.enqueue('bad.v1', {})).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
  })
})

describe('a schema that never answers', () => {
  it('is given up, and what it says later is heard by nobody', async () => {
    const answer = (validate: () => unknown) =>
      readPayload(
        { '~standard': { version: 1, vendor: 'test', validate } } as unknown as typeof anything,
        '{}',
        20,
      )
    const why = 'the schema gave no answer in 20 ms'
    expect(await answer(() => new Promise(() => undefined))).toEqual({ ok: false, why })
    const { opened, open } = gate()
    const failing = async (): Promise<never> => {
      await opened
      throw new Error('too late')
    }
    expect(await answer(failing)).toEqual({ ok: false, why })
    open()
    expect(await answer(() => Promise.resolve({ value: 5 }))).toEqual({ ok: true, payload: 5 })
  })
})

describe('a fault of the program before a job has begun', () => {
  it('costs its own job alone: the lane goes on to the next', async () => {
    const { core, registry, until, lines } = createWorld({
      options: { concurrency: 1 },
      around: (storage) => ({
        ...storage,
        fetch: async (request) =>
          (await storage.fetch(request)).map((job) =>
            job.type === 'bad.v1' ? Object.defineProperty(job, 'payload', { get: fail }) : job,
          ),
      }),
    })
    for (const type of ['bad.v1', 'good.v1']) registry.defineJob(type, anything, () => undefined)
    for (let n = 0; n < 3; n += 1) await core.queue.enqueue('bad.v1', n, { priority: 100 })
    const { id } = await core.queue.enqueue('good.v1', {})
    core.start()
    await until(id, 'Succeeded')
    expect(lines.filter(({ message }) => message === 'job processing failed')).toHaveLength(3)
  })
})

describe('an error that can not be understood', () => {
  const unreadable = (change: object): Error => Object.assign(new Error('x'), change)

  it.each([
    ['a message that is no text', () => unreadable({ message: Symbol('m') })],
    ['a message that is a number', () => unreadable({ message: 5 })],
    ['a stack without a prototype', () => unreadable({ stack: Object.create(null) as unknown })],
    ['such a cause', () => new Error('x', { cause: unreadable({ message: Symbol('m') }) })],
    ['parts that are no list', () => Object.assign(new AggregateError([]), { errors: 5 })],
    ['a revoked proxy', revoked],
  ])('with %s is retried like any other, and told of', async (_what, create) => {
    const { core, registry, until, lines } = createWorld()
    registry.defineJob('a.v1', anything, () => {
      throw create()
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    const dead = await until(id, 'Failed')
    expect(dead).toMatchObject({ reason: 'MaxRetriesExceeded', attempts: 3 })
    expect(dead).toHaveProperty('details', expect.stringContaining('can not be shown'))
    const told = lines.map(({ err }) => describeError(err))
    expect(JSON.stringify(told)).toContain('can not be shown')
  })

  it.each([
    ['throws', fail],
    ['answers a kind that there is not', () => 'no kind' as unknown as FailureKind],
  ])(
    'by a classify that %s is understood without it; its circuit goes on',
    async (_how, classify) => {
      const breaker = { failureThreshold: 1, openMs: 1 }
      const { core, registry, until, lines } = createWorld({
        options: { breaker, maxAgeMs: 60_000 },
      })
      registry.defineJob('a.v1', anything, () => Promise.reject(new Error('no luck')), { classify })
      core.start()
      for (let n = 0; n < 2; n += 1) {
        const { id } = await core.queue.enqueue('a.v1', n)
        expect(await until(id, 'Failed')).toMatchObject({
          reason: 'MaxRetriesExceeded',
          attempts: 3,
        })
      }
      expect(lines).toContainEqual(
        expect.objectContaining({ level: 'error', event: 'job classify failed', type: 'a.v1' }),
      )
    },
  )

  it('thrown by a middleware before its first await is a failure like any other', async () => {
    const { core, registry, until } = createWorld({ middleware: [fail] })
    registry.defineJob('a.v1', anything, () => undefined)
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    expect(await until(id, 'Failed')).toMatchObject({ reason: 'MaxRetriesExceeded', attempts: 3 })
  })
})

describe('a wait that is no number', () => {
  it.each([NaN, undefined])(
    '(%s) asked for by a RetryAfterError is the plain backoff',
    async (ms) => {
      const backoff = { baseMs: 30_000, factor: 1, capMs: 30_000, jitter: 0 }
      const { core, registry, storage } = createWorld({ options: { backoff } })
      registry.defineJob('a.v1', anything, () => {
        throw new RetryAfterError('slow down', ms as number)
      })
      const { id } = await core.queue.enqueue('a.v1', {})
      core.start()
      const due = await waitFor('the retry', async () => {
        const job = await storage.findJob(id)
        return job?.place === 'hot' && job.state === 'Pending' && job.attempts === 1 && job.dueAtMs
      })
      expect(due - Date.now()).toBeGreaterThan(25_000)
    },
  )
})

describe('a job that has more runs behind it than it may have', () => {
  it('is a dead letter without another, however often it would be refused its start', async () => {
    const { core, registry, storage, until } = createWorld({
      options: { maxAttempts: 2 },
      around: (inner) => ({
        ...inner,
        fetch: async (request) =>
          (await inner.fetch(request)).map((job) => ({ ...job, attempts: 2_147_483_647 })),
      }),
    })
    let runs = 0
    registry.defineJob('a.v1', anything, () => void (runs += 1))
    const [job] = await storage.enqueue([{ type: 'a.v1', queue: 'q', payload: '{}' }])
    core.start()
    const dead = await until(job?.id ?? '', 'Failed')
    expect(dead).toMatchObject({ reason: 'MaxRetriesExceeded' })
    expect(dead).toHaveProperty('details', expect.stringContaining('2147483647'))
    expect(runs).toBe(0)
  })
})

function fail(): never {
  throw new Error('a slip')
}

function revoked(): Error {
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {})
  revoke()
  return proxy
}
