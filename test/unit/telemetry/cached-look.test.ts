/** Many ask, one looks: what is shared, for how long, and who waits. */

import { describe, expect, it } from 'vitest'
import { createCachedLook } from '../../../src/telemetry/cached-look.js'
import { waitFor } from '../../support/wait-for.js'

interface Answer {
  readonly resolve: (value: string) => void
  readonly reject: (error: Error) => void
}

/** Looks that end when the test says so. */
function looks(limitMs: number) {
  const clock = { ms: 0 }
  const signals: AbortSignal[] = []
  const pending: Answer[] = []
  const ask = createCachedLook({
    look: (signal) => {
      signals.push(signal)
      return new Promise((resolve, reject) => void pending.push({ resolve, reject }))
    },
    freshForMs: 100,
    limitMs,
    now: () => clock.ms,
  })
  const answer = (index: number) => {
    const found = pending[index]
    if (found === undefined) throw new Error(`look ${index} has not begun`)
    return found
  }
  return { ask, clock, signals, answer }
}

describe('a cached look', () => {
  it('is shared by all who ask while it is under way or fresh', async () => {
    const { ask, answer, clock, signals } = looks(10_000)
    const asked = Promise.all([ask(), ask(), ask()])
    await Promise.resolve()
    answer(0).resolve('a')
    expect(await asked).toEqual(Array(3).fill({ state: 'seen', value: 'a' }))
    clock.ms = 99
    expect(await ask()).toEqual({ state: 'seen', value: 'a' })
    expect(signals).toHaveLength(1)
    clock.ms = 100
    const next = ask()
    await Promise.resolve()
    answer(1).resolve('b')
    expect(await next).toEqual({ state: 'seen', value: 'b' })
  })

  it('that failed is not repeated before its time either', async () => {
    const { ask, answer, signals } = looks(10_000)
    const asked = ask()
    await Promise.resolve()
    const error = new Error('away')
    answer(0).reject(error)
    expect(await asked).toEqual({ state: 'failed', error })
    expect(await ask()).toEqual({ state: 'failed', error })
    expect(signals).toHaveLength(1)
  })

  it('that is late is told to stop, keeps nobody waiting, and is not repeated while it is out', async () => {
    const { ask, answer, signals } = looks(1)
    expect(await ask()).toEqual({ state: 'late' })
    expect(await Promise.all([ask(), ask()])).toEqual([{ state: 'late' }, { state: 'late' }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    answer(0).resolve('at last')
    await waitFor('the late answer', async () => (await ask()).state === 'seen')
    expect(await ask()).toEqual({ state: 'seen', value: 'at last' })
    expect(signals).toHaveLength(1)
  })

  it('that throws at once is a failed one', async () => {
    const error = new Error('no')
    const ask = createCachedLook({
      look: () => {
        throw error
      },
      freshForMs: 1,
      limitMs: 1,
      now: () => 0,
    })
    expect(await ask()).toEqual({ state: 'failed', error })
  })
})
