/** The loop's start and stop, and the age of its last try, by which its health is judged. */

import { describe, expect, it, vi } from 'vitest'
import { away, intervalMs, run, useCycleLoops } from './cycle-loops.js'

const loopOf = useCycleLoops()

describe('the age of the last try', () => {
  it('begins with the loop, and anew with each try, failed or not', async () => {
    const { loop } = loopOf({ inTheWay: (n) => (n === 1 ? away : undefined) })
    await run(700)
    expect(loop.lastTryAgeMs()).toBe(700)
    loop.start()
    await run(0)
    expect(loop.lastTryAgeMs()).toBe(0)
    await run(intervalMs - 1)
    expect(loop.lastTryAgeMs()).toBe(intervalMs - 1)
    await run(1 + 4_999)
    expect(loop.lastTryAgeMs()).toBe(4_999)
  })

  it('counts from the end of a cycle that was long', async () => {
    const { loop } = loopOf({ cycleTakesMs: () => 30_000 })
    loop.start()
    await run(29_000)
    expect(loop.lastTryAgeMs()).toBe(29_000)
    await run(1_500)
    expect(loop.lastTryAgeMs()).toBe(500)
  })
})

describe('start and stop', () => {
  it('bear being called twice: one loop runs', async () => {
    const { loop, seen } = loopOf()
    loop.start()
    loop.start()
    await run(intervalMs)
    expect(seen.cycles).toEqual([0, 60_000])
    await Promise.all([loop.stop(), loop.stop()])
    await run(5 * intervalMs)
    expect(seen.cycles).toHaveLength(2)
  })

  it('stopped before it began, it never does', async () => {
    const { loop, seen } = loopOf()
    await loop.stop()
    loop.start()
    await run(intervalMs)
    expect(seen.tries).toEqual([])
  })

  it('stopping tells the cycle that runs, and waits for its end', async () => {
    const { loop, seen } = loopOf({ cycleTakesMs: () => 8_000 })
    loop.start()
    await run(3_000)
    let stopped = false
    const stop = loop.stop().then(() => {
      stopped = true
    })
    expect(seen.stopping?.aborted).toBe(true)
    await run(4_999)
    expect(stopped).toBe(false)
    await run(1)
    await stop
    expect(seen.running).toBe(0)
    await run(5 * intervalMs)
    expect(seen.cycles).toEqual([0])
  })

  it('stopping between two cycles needs no time', async () => {
    const { loop, seen } = loopOf()
    loop.start()
    await run(1_000)
    await loop.stop()
    expect(vi.getTimerCount()).toBe(0)
    expect(seen.cycles).toEqual([0])
  })
})
