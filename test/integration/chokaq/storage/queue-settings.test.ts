/** Queues and their limits: what a change leaves, tells and refuses. */

import { expect, test } from 'vitest'
import { describeStorages } from './storages.js'

const by = { by: 'ops' }

describeStorages('A queue', (get) => {
  test('has a row as soon as it is given a setting; what is not named stays', async () => {
    const { storage } = get()
    const none = { maxWorkers: undefined, zombieTimeoutMs: undefined, timeoutMs: undefined }
    const first = await storage.changeQueue('a', { maxWorkers: 3 }, by)
    expect(first).toMatchObject({
      settings: { paused: false, maxWorkers: 3, zombieTimeoutMs: undefined },
      before: { paused: false, ...none },
    })
    await storage.changeQueue('a', { paused: true, timeoutMs: 1_000 }, by)
    const last = await storage.changeQueue('a', { maxWorkers: null }, by)
    expect(last.settings).toEqual({ paused: true, ...none, timeoutMs: 1_000 })
    expect(last.before).toEqual({ paused: true, ...none, maxWorkers: 3, timeoutMs: 1_000 })
    const { settings } = await storage.changeQueue('a', {}, by)
    expect(settings).toMatchObject({ paused: true })
  })

  test('is changed on condition that nobody has changed it since', async () => {
    const { storage } = get()
    const paused = await storage.changeQueue('a', { paused: true }, by)
    const same = { ...by, ifVersion: paused.version }
    const resumed = await storage.changeQueue('a', { paused: false }, same)
    expect(resumed).toMatchObject({ settings: { paused: false }, before: { paused: true } })
    // Paused again, it looks as it did, and is another pause.
    const again = await storage.changeQueue('a', { paused: true }, by)
    for (const [name, { version }] of [
      ['a', paused],
      ['a', resumed],
      ['never-seen', again],
    ] as const) {
      const late = storage.changeQueue(name, { paused: false }, { ...by, ifVersion: version })
      await expect(late).rejects.toMatchObject({ code: 'QUEUE_CHANGED' })
    }
    const queues = (await storage.listQueues()).map(({ name, settings }) => [name, settings.paused])
    expect(queues).toEqual([['a', true]])
  })

  test('that many change at once tells each of them what was before its own change', async () => {
    const { storage } = get()
    await storage.changeQueue('a', { maxWorkers: 1 }, by)
    const limits = [2, 3, 4, 5, 6, 7, 8, 9]
    const all = await Promise.all(
      limits.map((maxWorkers) => storage.changeQueue('a', { maxWorkers }, by)),
    )
    expect(new Set(all.map(({ version }) => version)).size).toBe(limits.length)
    const last = (await storage.listQueues())[0]?.settings.maxWorkers ?? 0
    const befores = all.map(({ before }) => before.maxWorkers ?? 0)
    expect([...befores, last].sort()).toEqual([1, ...limits])
  })

  test('keeps what it has when first values are given', async () => {
    const { storage } = get()
    await storage.changeQueue('a', { maxWorkers: 7 }, by)
    const seeds = [
      { name: 'a', settings: { maxWorkers: 1, paused: true } },
      { name: 'b', settings: { maxWorkers: 2, zombieTimeoutMs: 5_000 } },
    ]
    await Promise.all([storage.seedQueues(seeds), storage.seedQueues([...seeds].reverse())])
    const queues = await storage.listQueues()
    expect(
      queues.map(({ name, settings }) => [name, settings.maxWorkers, settings.paused]),
    ).toEqual([
      ['a', 7, false],
      ['b', 2, false],
    ])
    expect(queues[1]?.settings.zombieTimeoutMs).toBe(5_000)
  })

  test.each([
    ['a b', {}, 'QUEUE_INVALID'],
    ['a', { maxWorkers: 0 }, 'QUEUE_LIMIT_INVALID'],
    ['a', { maxWorkers: 10_001 }, 'QUEUE_LIMIT_INVALID'],
    ['a', { maxWorkers: 1.5 }, 'QUEUE_LIMIT_INVALID'],
    ['a', { zombieTimeoutMs: 0 }, 'QUEUE_LIMIT_INVALID'],
    ['a', { timeoutMs: Infinity }, 'QUEUE_LIMIT_INVALID'],
  ])('%s with %o is refused', async (name, changes, code) => {
    const { storage } = get()
    await expect(storage.changeQueue(name, changes, by)).rejects.toMatchObject({ code })
    await expect(storage.seedQueues([{ name, settings: changes }])).rejects.toMatchObject({ code })
    expect(await storage.listQueues()).toEqual([])
  })
})
