/** What waits for the end of a turn is done then, in order, whole, and never lost. */

import { setImmediate as turnIsOver } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createEndOfTurn } from '../../../src/provisioning/end-of-turn.js'

it('is done when the turn is over, in the order of asking', async () => {
  const done: number[] = []
  const endOfTurn = createEndOfTurn()
  endOfTurn.do(() => done.push(1))
  await Promise.resolve()
  endOfTurn.do(() => done.push(2))
  expect(done).toEqual([])
  await turnIsOver()
  expect(done).toEqual([1, 2])
  endOfTurn.do(() => done.push(3))
  await turnIsOver()
  expect(done).toEqual([1, 2, 3])
})

it('is done at the latest when those who ask have ended, also where they fail', async () => {
  const done: number[] = []
  const endOfTurn = createEndOfTurn()
  const asking = async (failure?: Error): Promise<void> => {
    await Promise.resolve()
    endOfTurn.do(() => done.push(1))
    if (failure !== undefined) throw failure
  }
  await endOfTurn.settledAfter(asking())
  expect(done).toEqual([1])
  const failure = new Error('a lane broke')
  await expect(endOfTurn.settledAfter(asking(failure))).rejects.toBe(failure)
  expect(done).toEqual([1, 1])
})

it('goes on after a failure with what was asked for, and tells the first to whoever asks or waits', async () => {
  const done: number[] = []
  const first = new Error('no line could be written')
  const fail = (error: Error) => () => {
    throw error
  }
  const endOfTurn = createEndOfTurn()
  endOfTurn.do(fail(first))
  endOfTurn.do(() => done.push(1))
  endOfTurn.do(fail(new Error('nor another')))
  await turnIsOver()
  expect(() => endOfTurn.do(() => done.push(2))).toThrow(first)
  await expect(endOfTurn.settledAfter(Promise.resolve())).rejects.toBe(first)
  expect(done).toEqual([1])
})
