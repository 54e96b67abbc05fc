/** The limiter by random sequences of commands against a model, and what its callers may rely on. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
  type Permit,
} from '../../../src/chokaq/kernel/concurrency-limiter.js'

interface Model {
  limit: number
  active: number
  /** Numbers of those who wait, in their order. */
  queue: number[]
}

interface Waiter {
  readonly abort: AbortController
  state: 'waiting' | 'in' | 'aborted'
  permit: Permit | undefined
}

interface Real {
  readonly limiter: ConcurrencyLimiter
  readonly waiters: Waiter[]
}

type Command = fc.AsyncCommand<Model, Real>

/** Lets whoever is let in do so in the model too. */
function admit(model: Model): void {
  while (model.queue.length > 0 && model.active < model.limit) {
    model.queue.shift()
    model.active += 1
  }
}

function command(name: string, run: (model: Model, real: Real) => void): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      run(model, real)
      admit(model)
      await settled()
      const { limiter, waiters } = real
      expect(limiter.limit).toBe(model.limit)
      expect(limiter.active).toBe(model.active)
      expect(limiter.waiting).toBe(model.queue.length)
      const waiting = waiters.flatMap(({ state }, number) => (state === 'waiting' ? [number] : []))
      expect(waiting).toEqual(model.queue)
      expect(limiter.free).toBe(waiting.length > 0 ? 0 : Math.max(0, model.limit - model.active))
    },
    toString: () => name,
  }
}

/** Promise callbacks that are due have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
}

const acquire = command('acquire', (model, { limiter, waiters }) => {
  const waiter: Waiter = { abort: new AbortController(), state: 'waiting', permit: undefined }
  model.queue.push(waiters.push(waiter) - 1)
  limiter.acquire(waiter.abort.signal).then(
    (permit) => Object.assign(waiter, { state: 'in', permit }),
    () => Object.assign(waiter, { state: 'aborted' }),
  )
})

const tryAcquire = command('try', (model, { limiter, waiters }) => {
  const permit = limiter.tryAcquire()
  expect(permit !== undefined).toBe(model.active < model.limit && model.queue.length === 0)
  if (permit === undefined) return
  model.active += 1
  waiters.push({ abort: new AbortController(), state: 'in', permit })
})

const release = (pick: number): Command =>
  command(`release ${pick}`, (model, { waiters }) => {
    const held = waiters.filter(({ permit }) => permit !== undefined)
    const waiter = held[pick % Math.max(1, held.length)]
    if (waiter?.permit === undefined) return
    waiter.permit.release()
    waiter.permit.release()
    waiter.permit = undefined
    model.active -= 1
  })

const abort = (pick: number): Command =>
  command(`abort ${pick}`, (model, { waiters }) => {
    const number = model.queue[pick % Math.max(1, model.queue.length)]
    if (number === undefined) return
    model.queue = model.queue.filter((other) => other !== number)
    waiters[number]?.abort.abort()
  })

const setLimit = (limit: number): Command =>
  command(`limit ${limit}`, (model, { limiter }) => {
    limiter.setLimit(limit)
    model.limit = limit
  })

it('any sequence of commands leaves as many in, and the same ones waiting, as the model', async () => {
  const commands = fc.commands(
    [
      fc.constant(acquire),
      fc.constant(tryAcquire),
      fc.nat(20).map(release),
      fc.nat(20).map(abort),
      fc.nat(5).map(setLimit),
    ],
    { maxCommands: 80, size: 'max' },
  )
  await fc.assert(
    fc.asyncProperty(commands, fc.nat(4), async (sequence, limit) => {
      const setup = () => ({
        model: { limit, active: 0, queue: [] },
        real: { limiter: createConcurrencyLimiter(limit), waiters: [] },
      })
      await fc.asyncModelRun(setup, sequence)
    }),
    { numRuns: 100 },
  )
})

describe('its edges', () => {
  it.each([-1, 1.5, NaN, Infinity])('refuses %d as a limit and keeps the one it had', (limit) => {
    expect(() => createConcurrencyLimiter(limit)).toThrow(`from 0 up, not ${limit}`)
    const limiter = createConcurrencyLimiter(2)
    expect(() => limiter.setLimit(limit)).toThrow(RangeError)
    expect(limiter.limit).toBe(2)
  })

  it('refuses at once who asks with a signal that is aborted, with its reason', async () => {
    const limiter = createConcurrencyLimiter(1)
    const reason = new Error('shutting down')
    await expect(limiter.acquire(AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(limiter.active).toBe(0)
  })

  it('lets in who waits without a signal', async () => {
    const limiter = createConcurrencyLimiter(0)
    const waits = limiter.acquire()
    expect(limiter.waiting).toBe(1)
    limiter.setLimit(1)
    ;(await waits).release()
    expect(limiter.free).toBe(1)
  })

  it('gives the reason to who was waiting, and does not listen any more to who is in', async () => {
    const limiter = createConcurrencyLimiter(1)
    const held = await limiter.acquire()
    const [first, second] = [new AbortController(), new AbortController()]
    const [waits, goesIn] = [limiter.acquire(first.signal), limiter.acquire(second.signal)]
    first.abort('enough')
    await expect(waits).rejects.toBe('enough')
    held.release()
    const permit = await goesIn
    second.abort()
    expect(limiter.active).toBe(1)
    permit.release()
    expect(limiter.free).toBe(1)
  })
})
