/**
 * Loaded into the measured `serve` before the program (`node --import`): tells on descriptor 3, every
 * five seconds, what only the process itself knows. It keeps nothing alive and nothing in memory.
 */

import { writeSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'

const everyMs = 5_000
const megabyte = 2 ** 20

const lag = monitorEventLoopDelay({ resolution: 10 })
lag.enable()

globalThis
  .setInterval(() => {
    const { heapUsed, heapTotal, external } = process.memoryUsage()
    const line = {
      heapUsedMb: heapUsed / megabyte,
      heapTotalMb: heapTotal / megabyte,
      externalMb: external / megabyte,
      handles: process.getActiveResourcesInfo().length,
      loopP99Ms: lag.percentile(99) / 1e6,
      loopMaxMs: lag.max / 1e6,
    }
    lag.reset()
    try {
      writeSync(3, `${JSON.stringify(line)}\n`)
    } catch {
      // Who listened has gone; that is no reason for the program to end.
    }
  }, everyMs)
  .unref()
