/** The loop around the cycles: at a fixed rate, never two at once, outlasting every outage. */

import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import { away, intervalMs, run, useCycleLoops } from './cycle-loops.js'

const loopOf = useCycleLoops()

describe('the rate', () => {
  it('is fixed: at the start, then every interval, however long a cycle takes', async () => {
    const { loop, seen } = loopOf({ cycleTakesMs: (n) => n * 10_000 })
    loop.start()
    await run(4 * intervalMs + 1)
    expect(seen.cycles).toEqual([0, 60_000, 120_000, 180_000, 240_000])
  })

  it('leaves out what a long cycle has missed, and keeps its beat', async () => {
    const { loop, seen } = loopOf({ cycleTakesMs: (n) => (n === 1 ? 150_000 : 0) })
    loop.start()
    await run(200_000)
    expect(seen.cycles).toEqual([0, 60_000])
    expect(seen.running).toBe(1)
    await run(160_000)
    // 120 s and 180 s passed while the cycle of 60 s ran until 210 s.
    expect(seen.cycles).toEqual([0, 60_000, 240_000, 300_000, 360_000])
  })

  it('lets the tick at which a cycle ends pass: the next is a whole interval on', async () => {
    const { loop, seen } = loopOf({ cycleTakesMs: (n) => (n === 0 ? intervalMs : 0) })
    loop.start()
    await run(3 * intervalMs)
    expect(seen.cycles).toEqual([0, 120_000, 180_000])
  })

  it('may be slower than a timer can hold', async () => {
    const monthMs = 30 * 86_400_000
    const { loop, seen } = loopOf({ pollingIntervalMs: monthMs })
    loop.start()
    await run(monthMs - 1)
    expect(seen.cycles).toEqual([0])
    await run(1)
    expect(seen.cycles).toEqual([0, monthMs])
  })
})

describe('an outage', () => {
  const outage = (from: number, to: number) => (n: number) =>
    n >= from && n < to ? away : undefined

  it('is waited out with a try every 5 s, then the cycles go on', async () => {
    const { loop, seen } = loopOf({ inTheWay: outage(1, 4) })
    loop.start()
    await run(4 * intervalMs)
    expect(seen.tries).toEqual([0, 60_000, 65_000, 70_000, 75_000, 135_000, 195_000])
    expect(seen.cycles).toEqual([0, 75_000, 135_000, 195_000])
    expect(seen.fatal).toEqual([])
  })

  it('is looked for at the polling interval where that is shorter', async () => {
    const { loop, seen } = loopOf({ inTheWay: outage(0, 3), pollingIntervalMs: 1_000 })
    loop.start()
    await run(4_000)
    expect(seen.tries).toEqual([0, 1_000, 2_000, 3_000, 4_000])
    expect(seen.cycles).toEqual([3_000, 4_000])
  })

  it('in the middle of a cycle is one like any other', async () => {
    const { loop, seen } = loopOf({
      cycleTakesMs: (n) => {
        if (n === 0) throw away
        return 0
      },
    })
    loop.start()
    await run(5_000)
    expect(seen.cycles).toEqual([0, 5_000])
  })

  it('is told once per reason, though these take turns, and when it is over', async () => {
    const migrate = new AppError('SCHEMA_MISSING', 'migrate')
    const reasons = [away, away, migrate, away, migrate, undefined]
    const { loop, seen } = loopOf({ inTheWay: (n) => reasons[n] })
    loop.start()
    await run(intervalMs)
    const told = seen.lines.filter(({ level }) => level !== 20)
    expect(told).toMatchObject([
      { level: 40, event: 'cycle waiting', reason: 'ECONNREFUSED', err: { message: 'refused' } },
      { level: 40, event: 'cycle waiting', reason: 'SCHEMA_MISSING' },
      { level: 30, event: 'cycle resumed', waitedFor: 'SCHEMA_MISSING' },
    ])
    expect(told).toHaveLength(3)
    expect(seen.lines).toHaveLength(6)
  })

  it('is told anew when it comes again', async () => {
    const { loop, seen } = loopOf({ inTheWay: (n) => (n === 0 || n === 2 ? away : undefined) })
    loop.start()
    await run(3 * intervalMs)
    expect(seen.lines.map(({ event }) => event)).toEqual([
      'cycle waiting',
      'cycle resumed',
      'cycle waiting',
      'cycle resumed',
    ])
  })
})

describe('what waiting can’t mend', () => {
  it('ends the loop, said once', async () => {
    const fatal = new AppError('SCHEMA_TOO_NEW', 'update the service')
    const { loop, seen } = loopOf({ inTheWay: (n) => (n === 1 ? fatal : undefined) })
    loop.start()
    await run(10 * intervalMs)
    expect(seen.fatal).toEqual([fatal])
    expect(seen.tries).toEqual([0, 60_000])
    loop.start()
    await run(10 * intervalMs)
    expect(seen.tries).toHaveLength(2)
  })
})
