/** What the relay and the one-off drain are given. */

import type { RelayMetrics } from '../telemetry/metric-ports.js'
import type { OutboxLog } from './outbox-log.js'
import type { Publisher } from './publisher.js'
import type { RelayLockOptions } from './relay-lock.js'

export interface RelayOptions extends RelayLockOptions {
  /** The topic whose reach decides the relay's health; rows name their own. */
  readonly topic: string
  readonly batchSize: number
  /** The failed attempt with this number parks an event. */
  readonly maxAttempts: number
  readonly retentionMs: number
}

export interface RelayDependencies {
  readonly publisher: Publisher
  readonly metrics: RelayMetrics
  readonly log: OutboxLog
  /** Uniform in [0, 1), as Math.random. */
  readonly random: () => number
  /** Monotonic milliseconds, as performance.now. */
  readonly now: () => number
}
