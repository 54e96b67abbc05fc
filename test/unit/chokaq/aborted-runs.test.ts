/** Runs that are ended from outside, and what a handler can leave and learn. */

import { describe, expect, it } from 'vitest'
import { JobAbortedError, RunAbort } from '../../../src/chokaq/worker/abort.js'
import { waitFor } from '../../support/wait-for.js'
import { anything, gate, untilAborted, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()

describe('a run that is ended from outside', () => {
  it('by its time limit is a failure of its own kind, the queue limit first', async () => {
    const { core, registry, storage, until, counted } = createWorld({
      options: { timeoutMs: 3_600_000, maxAttempts: 2 },
    })
    await storage.changeQueue('short', { timeoutMs: 20 }, { by: 'ann' })
    const reasons: unknown[] = []
    registry.defineJob('a.v1', anything, async (context) => {
      await untilAborted(context).catch((error: unknown) => {
        reasons.push((error as JobAbortedError).reason)
        throw error
      })
    })
    const { id } = await core.queue.enqueue('a.v1', {}, { queue: 'short' })
    core.start()
    expect(await until(id, 'Failed')).toMatchObject({ reason: 'Timeout', attempts: 2 })
    expect(reasons).toEqual(['timeout', 'timeout'])
    expect(counted).toContain('retried short a.v1')
  })

  it('and does not heed its signal is a dead letter at once: it may still be at work', async () => {
    const { core, registry, until, lines } = createWorld({
      options: { timeoutMs: 20, abortGraceMs: 30 },
    })
    const { opened, open } = gate()
    registry.defineJob('a.v1', anything, () => opened)
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    const dead = await until(id, 'Failed')
    expect(dead).toMatchObject({ reason: 'Timeout', attempts: 1 })
    expect(dead).toHaveProperty('details', expect.stringContaining('may still be at work'))
    expect(lines).toContainEqual(expect.objectContaining({ message: 'handler ignores its signal' }))
    open()
  })

  it('by an operator is Cancelled at once, not at the next heartbeat', async () => {
    const { core, registry, until } = createWorld({
      options: { heartbeatMinMs: 3_600_000, heartbeatMaxMs: 3_600_000, zombieTimeoutMs: 7_200_000 },
    })
    let reason: unknown
    registry.defineJob('a.v1', anything, async (context) => {
      await untilAborted(context).catch((error: unknown) => {
        reason = (error as JobAbortedError).reason
        throw error
      })
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    await until(id, 'Processing')
    await waitFor('the handler', () => core.worker.status().running === 1)
    const request = { by: 'ann', reason: 'wrong month' }
    expect(await core.operator.cancel(id, request)).toEqual({ outcome: 'requested' })
    const dead = await until(id, 'Cancelled')
    expect(dead).toMatchObject({ reason: 'Cancelled', details: 'cancelled by ann: wrong month' })
    expect(reason).toBe('admin')
  })

  it('because the job is no longer its own is told so and settles nothing', async () => {
    const { core, registry, storage, until, counted } = createWorld()
    const aborted = gate()
    let reason: unknown
    registry.defineJob('a.v1', anything, async (context) => {
      await untilAborted(context).catch((error: unknown) => {
        reason = (error as JobAbortedError).reason
        aborted.open()
        throw error
      })
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    await until(id, 'Processing')
    await storage.rescue({ fetchedTimeoutMs: -1, zombieTimeoutMs: -1, limit: 10 })
    await aborted.opened
    expect(reason).toBe('heartbeat')
    await core.stop(1_000)
    expect(await storage.findJob(id)).toMatchObject({ state: 'Zombie', reason: 'Zombie' })
    expect(counted.filter((line) => line.startsWith('failed'))).toEqual([])
  })
})

describe('the job context', () => {
  it('stores progress with the next heartbeat', async () => {
    const { core, registry, storage } = createWorld()
    const { opened, open } = gate()
    registry.defineJob('a.v1', anything, async ({ progress }) => {
      progress(42)
      await opened
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    await waitFor('the progress', async () => {
      const job = await storage.findJob(id)
      return job?.place === 'hot' && job.progress === 42
    })
    open()
  })

  it('hands a checkpoint on to the next run, and to nobody who has lost the job', async () => {
    const { core, registry, storage, until } = createWorld()
    const found: unknown[] = []
    let failed: unknown
    registry.defineJob('a.v1', anything, async (context) => {
      found.push(context.checkpoint)
      await context.saveCheckpoint({ after: context.attempt })
      if (context.attempt === 1) throw new Error('on the way')
      await storage.rescue({ fetchedTimeoutMs: -1, zombieTimeoutMs: -1, limit: 10 })
      await context.saveCheckpoint({ after: 'lost' }).catch((error: unknown) => {
        failed = error
        throw error
      })
    })
    const { id } = await core.queue.enqueue('a.v1', {})
    core.start()
    const zombie = await until(id, 'Zombie')
    await waitFor('the refusal', () => failed !== undefined)
    expect(found).toEqual([undefined, { after: 1 }])
    expect(failed).toBeInstanceOf(JobAbortedError)
    expect(zombie.checkpoint).toBe('{"after":2}')
  })
})

describe('the wish to end a run', () => {
  it('is told to whoever waits and to signals asked for before and after, with the first reason', () => {
    const abort = new RunAbort()
    const heard: string[] = []
    abort.listen((reason) => heard.push(reason))
    const { signal } = abort
    expect(signal.aborted).toBe(false)
    abort.abort('timeout')
    abort.abort('shutdown')
    expect(heard).toEqual(['timeout'])
    expect(signal.reason).toMatchObject({ name: 'AbortError', reason: 'timeout' })
    expect(abort.signal).toBe(signal)

    const late = new RunAbort()
    late.abort('admin')
    late.listen((reason) => heard.push(reason))
    expect(heard).toEqual(['timeout', 'admin'])
    expect(late.signal.aborted).toBe(true)
    expect(late.signal.reason).toBe(late.error)
  })
})
