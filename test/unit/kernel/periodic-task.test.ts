/** Background work: now and then, one at a time, and a failure is only told. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PeriodicTask } from '../../../src/periodic-task.js'
import { logToLines } from '../provisioning/log-lines.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const intervalMs = 1_000

function taskOf(work: (stopping: AbortSignal) => Promise<void>) {
  const runs: number[] = []
  const { log, lines } = logToLines('info')
  const startedAt = Date.now()
  const task = new PeriodicTask({
    name: 'pruning',
    intervalMs,
    run: (stopping) => {
      runs.push(Date.now() - startedAt)
      return work(stopping)
    },
    log,
  })
  return { task, runs, lines }
}

describe('a periodic task', () => {
  it('runs at the start, then again an interval after each end', async () => {
    const { task, runs } = taskOf(() => new Promise((resolve) => setTimeout(resolve, 300)))
    task.start()
    task.start()
    await vi.advanceTimersByTimeAsync(2 * (intervalMs + 300))
    expect(runs).toEqual([0, 1_300, 2_600])
    const stop = task.stop()
    await vi.runAllTimersAsync()
    await stop
    expect(runs).toHaveLength(3)
  })

  it('that fails is told and tried again', async () => {
    const { task, runs, lines } = taskOf(() => Promise.reject(new Error('away')))
    task.start()
    await vi.advanceTimersByTimeAsync(intervalMs)
    expect(runs).toEqual([0, 1_000])
    const told = { level: 40, event: 'background task failed', task: 'pruning' }
    expect(lines).toMatchObject([{ ...told, err: { message: 'away' } }, told])
    await task.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is told to stop, and waited for', async () => {
    const { task, runs } = taskOf(
      (stopping) =>
        new Promise((resolve) => {
          stopping.addEventListener('abort', () => resolve())
        }),
    )
    task.start()
    await task.stop()
    await task.stop()
    await vi.advanceTimersByTimeAsync(5 * intervalMs)
    expect(runs).toEqual([0])
  })

  it('stopped before it began, it never does', async () => {
    const { task, runs } = taskOf(() => Promise.resolve())
    await task.stop()
    task.start()
    await vi.advanceTimersByTimeAsync(intervalMs)
    expect(runs).toEqual([])
  })
})
