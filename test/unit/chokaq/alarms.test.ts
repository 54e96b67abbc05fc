/** Many alarms on one timer: each rings once, at its time, and those that are cancelled leave nothing. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAlarms } from '../../../src/chokaq/worker/alarms.js'
import { longestTimerMs } from '../../../src/chokaq/worker/waiting.js'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

function setAll(times: Readonly<Record<string, number>>) {
  const alarms = createAlarms()
  const rung: string[] = []
  const set = Object.entries(times).map(([name, ms]) => alarms.set(ms, () => rung.push(name)))
  return { alarms, rung, set }
}

it('each rings once, at its time, in whatever order they were set', () => {
  const { rung } = setAll({ late: 300, early: 100, middle: 200 })
  vi.advanceTimersByTime(99)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['early'])
  vi.advanceTimersByTime(1_000)
  expect(rung).toEqual(['early', 'middle', 'late'])
  expect(vi.getTimerCount()).toBe(0)
})

it('one that is cancelled is silent, and the others ring all the same', () => {
  const { rung, set } = setAll({ first: 100, second: 200 })
  set[0]?.cancel()
  set[0]?.cancel()
  vi.advanceTimersByTime(500)
  expect(rung).toEqual(['second'])
})

it('no timer is left when all are cancelled, and later ones ring', () => {
  const { alarms, rung, set } = setAll({ first: 100, second: 200 })
  for (const alarm of set) alarm.cancel()
  expect(vi.getTimerCount()).toBe(0)
  alarms.set(50, () => rung.push('later'))
  vi.advanceTimersByTime(50)
  expect(rung).toEqual(['later'])
})

it('one that rings may cancel another that is due, and set a new one', () => {
  const alarms = createAlarms()
  const rung: string[] = []
  alarms.set(100, () => {
    other.cancel()
    alarms.set(10, () => rung.push('new'))
  })
  const other = alarms.set(100, () => rung.push('other'))
  vi.advanceTimersByTime(200)
  expect(rung).toEqual(['new'])
})

it('waits for longer than a timer can', () => {
  const { rung } = setAll({ far: longestTimerMs + 1_000 })
  vi.advanceTimersByTime(longestTimerMs)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1_000)
  expect(rung).toEqual(['far'])
})
