/** Middleware around handlers, and the memory of what was done. */

import { describe, expect, it } from 'vitest'
import type { Middleware } from '../../../src/chokaq/middleware/middleware.js'
import {
  archiveMarkers,
  rememberCompletion,
  type CompletionMarkers,
} from '../../../src/chokaq/middleware/completion-marker.js'
import { anything, useCoreWorlds } from './core-world.js'

const createWorld = useCoreWorlds()

describe('middleware', () => {
  it('wraps the handler like an onion, sees its error, and may end the job without it', async () => {
    const trace: string[] = []
    const layer =
      (name: string): Middleware =>
      async (_context, next) => {
        trace.push(`${name} in`)
        await next().catch((error: unknown) => {
          trace.push(`${name} caught ${(error as Error).message}`)
          throw error
        })
        trace.push(`${name} out`)
      }
    const skip: Middleware = ({ tags }, next) =>
      tags.includes('skip') ? Promise.resolve() : next()
    const { core, registry, until } = createWorld({
      middleware: [layer('outer'), skip, layer('inner')],
      options: { maxAttempts: 1 },
    })
    registry.defineJob('a.v1', anything, ({ payload }) => {
      trace.push('handler')
      if (payload === 'fail') throw new Error('no')
    })
    core.start()
    await until((await core.queue.enqueue('a.v1', 1)).id, 'Succeeded')
    await until((await core.queue.enqueue('a.v1', 'fail')).id, 'Failed')
    await until((await core.queue.enqueue('a.v1', 2, { tags: ['skip'] })).id, 'Succeeded')
    expect(trace).toEqual([
      ...['outer in', 'inner in', 'handler', 'inner out', 'outer out'],
      ...['outer in', 'inner in', 'handler', 'inner caught no', 'outer caught no'],
      ...['outer in', 'outer out'],
    ])
  })

  it('that calls next() twice is a fault, and the handler runs once', async () => {
    let runs = 0
    const twice: Middleware = async (_, next) => {
      await next()
      await next()
    }
    const { core, registry, until } = createWorld({ middleware: [twice] })
    registry.defineJob('a.v1', anything, () => void (runs += 1))
    core.start()
    const { id } = await core.queue.enqueue('a.v1', {})
    expect(await until(id, 'Failed')).toMatchObject({ reason: 'FatalError', attempts: 1 })
    expect(runs).toBe(1)
  })
})

describe('the memory of completion', () => {
  const options = { idempotencyKey: 'day-1' }

  it('lets a job whose key is archived succeed without its handler, of its own type only', async () => {
    let runs = 0
    const middleware: Middleware[] = []
    const { core, registry, storage, until } = createWorld({ middleware })
    middleware.push(rememberCompletion(archiveMarkers(storage)))
    for (const type of ['a.v1', 'b.v1']) registry.defineJob(type, anything, () => void (runs += 1))
    core.start()
    for (const type of ['a.v1', 'a.v1', 'b.v1']) {
      await until((await core.queue.enqueue(type, {}, options)).id, 'Succeeded')
    }
    await until((await core.queue.enqueue('a.v1', {})).id, 'Succeeded')
    expect(runs).toBe(3)
  })

  it('marks what has ended well, and nothing else', async () => {
    const marked: string[] = []
    const markers: CompletionMarkers = {
      has: (typeKey, key) => Promise.resolve(marked.includes(`${typeKey} ${key}`)),
      put: (typeKey, key) => Promise.resolve(void marked.push(`${typeKey} ${key}`)),
    }
    const { core, registry, until } = createWorld({ middleware: [rememberCompletion(markers)] })
    registry.defineJob('a.v1', anything, ({ attempt }) => {
      expect(marked).toEqual([])
      if (attempt === 1) throw new Error('not yet')
    })
    core.start()
    await until((await core.queue.enqueue('a.v1', {}, options)).id, 'Succeeded')
    expect(marked).toEqual(['a.v1 day-1'])
  })
})
