/** Waiting: as long as asked, beyond what a timer holds, and no longer than the signal allows. */

import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pause, unlessAborted, within } from '../../../src/timers.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A pause under way, and whether it has ended. */
function pausing(ms: number, signal?: AbortSignal): { ended: boolean; done: Promise<void> } {
  const state = { ended: false, done: Promise.resolve() }
  state.done = pause(ms, signal).then(() => {
    state.ended = true
  })
  return state
}

describe('a pause', () => {
  it('ends at its time, not before', async () => {
    const waiting = pausing(1_000)
    await vi.advanceTimersByTimeAsync(999)
    expect(waiting.ended).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(waiting.ended).toBe(true)
  })

  it.each([0, -5, -Infinity])('of %d ms waits for no timer', async (ms) => {
    await pause(ms)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 5_000, 3 * 2 ** 31])(
    'of %d ms lasts that long',
    async (ms) => {
      const waiting = pausing(ms)
      await vi.advanceTimersByTimeAsync(ms - 1)
      expect(waiting.ended).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(waiting.ended).toBe(true)
    },
  )

  it('is cut short by its signal, even in a later slice, and leaves nothing behind', async () => {
    const stopping = new AbortController()
    const waiting = pausing(2 ** 32, stopping.signal)
    await vi.advanceTimersByTimeAsync(2 ** 31 + 7)
    expect(waiting.ended).toBe(false)
    stopping.abort()
    await waiting.done
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(0)
  })

  it('that ran its time takes its listener off the signal', async () => {
    const { signal } = new AbortController()
    const waiting = pausing(10, signal)
    await vi.advanceTimersByTimeAsync(10)
    await waiting.done
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('does not begin where the signal has aborted already', async () => {
    await pause(1_000, AbortSignal.abort())
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('work that is waited for unless the signal aborts', () => {
  it('gives its result or its failure, and takes its listener off the signal', async () => {
    const { signal } = new AbortController()
    expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done')
    await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it("is left at once when it aborts, and a failure after that is nobody's", async () => {
    const stopping = new AbortController()
    let fail!: (error: Error) => void
    const work = new Promise<string>((_resolve, reject) => (fail = reject))
    const waiting = unlessAborted(work, stopping.signal)
    stopping.abort()
    expect(await waiting).toBeUndefined()
    // An unhandled rejection would fail the run.
    fail(new Error('too late'))
    expect(await unlessAborted(new Promise(() => undefined), stopping.signal)).toBeUndefined()
  })
})

describe('work within a time', () => {
  it('that ends before leaves no timer, however it ends', async () => {
    await within(Promise.resolve(), 15_000)
    await expect(within(Promise.reject(new Error('no')), 15_000)).rejects.toThrow('no')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('that does not end is no longer waited for', async () => {
    const never = new Promise<void>(() => undefined)
    const waiting = within(never, 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    await waiting
    expect(vi.getTimerCount()).toBe(0)
  })
})
