/** Cycle loops on a fake clock, and what was seen of their tries and cycles. */

import { afterEach, beforeEach, expect, vi } from 'vitest'
import type { AppError } from '../../../src/errors.js'
import type { CycleSummary } from '../../../src/provisioning/cycle.js'
import { CycleLoop } from '../../../src/provisioning/cycle-loop.js'
import { logToLines } from './log-lines.js'

export const intervalMs = 60_000
export const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
const summary = { outcome: 'completed' } as CycleSummary

const loops: CycleLoop[] = []

interface Setting {
  /** What stands in the way of the nth try, from 0. */
  readonly inTheWay?: (n: number) => Error | undefined
  /** Milliseconds that the nth cycle takes. */
  readonly cycleTakesMs?: (n: number) => number
  readonly pollingIntervalMs?: number
}

/** Registers the hooks for the fake clock; the returned function makes a loop on it. */
export function useCycleLoops(): typeof loopOf {
  beforeEach(() => vi.useFakeTimers())
  afterEach(async () => {
    const stops = loops.splice(0).map((loop) => loop.stop())
    await vi.runAllTimersAsync()
    await Promise.all(stops)
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
  return loopOf
}

function loopOf({ inTheWay, cycleTakesMs, pollingIntervalMs = intervalMs }: Setting = {}) {
  const startedAt = Date.now()
  const { log, lines } = logToLines('debug')
  const seen = {
    /** Milliseconds from the start at which a try, and a cycle, began. */
    tries: [] as number[],
    cycles: [] as number[],
    fatal: [] as AppError[],
    lines,
    stopping: undefined as AbortSignal | undefined,
    running: 0,
  }
  const loop = new CycleLoop({
    pollingIntervalMs,
    prepare: () => {
      const error = inTheWay?.(seen.tries.length)
      seen.tries.push(Date.now() - startedAt)
      return error === undefined ? Promise.resolve() : Promise.reject(error)
    },
    runCycle: async (stopping) => {
      const n = seen.cycles.push(Date.now() - startedAt) - 1
      seen.stopping = stopping
      seen.running += 1
      const takes = cycleTakesMs?.(n) ?? 0
      if (takes > 0) await new Promise((resolve) => setTimeout(resolve, takes))
      seen.running -= 1
      return summary
    },
    onFatal: (error) => seen.fatal.push(error),
    log,
    now: () => performance.now(),
  })
  loops.push(loop)
  return { loop, seen }
}

export const run = (ms: number) => vi.advanceTimersByTimeAsync(ms)
