/** How a worker works, and what a job gets that its definition says nothing about. */

import type { BackoffPolicy } from '../kernel/backoff.js'

export interface WorkerOptions {
  /** Names this worker's life in the storage; unique among all that share it, at most 128 characters. */
  readonly owner: string
  /** Milliseconds between two looks for jobs where nothing wakes it. */
  readonly pollIntervalMs: number
  /** Jobs of one fetch, and at most so many wait here for a lane. */
  readonly batchSize: number
  /** Lanes: handlers at once; `setConcurrency` changes it while they run. */
  readonly concurrency: number
  /** Runs at most. */
  readonly maxAttempts: number
  /** A running job says that it lives at a random interval from this … */
  readonly heartbeatMinMs: number
  /** … to this, so that workers that began together don't write together. */
  readonly heartbeatMaxMs: number
  /** After so long without a heartbeat others take the job for dead. */
  readonly zombieTimeoutMs: number
  /** Only these queues; all, where nothing is said. */
  readonly queues?: readonly string[] | undefined
  readonly backoff?: BackoffPolicy | undefined
  readonly maxAgeMs?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly breaker?: BreakerOptions | undefined
  /** Milliseconds that a handler gets to end after its signal was aborted. */
  readonly abortGraceMs?: number | undefined
}

export interface BreakerOptions {
  /** Failures of one type in a row that open its circuit. */
  readonly failureThreshold: number
  /** Milliseconds that it stays open. */
  readonly openMs: number
}

/** A dependency's hiccup is over in seconds, its outage in minutes. */
export const defaultBackoff: BackoffPolicy = {
  baseMs: 5_000,
  factor: 2,
  capMs: 15 * 60_000,
  jitter: 0.2,
}

/** A day: what has not succeeded by then, somebody should look at. */
export const defaultMaxAgeMs = 24 * 3_600_000

/** Far above any sound run of an operator's job; only what hangs reaches it. */
export const defaultTimeoutMs = 3_600_000

/** Five in a row is no chance any more; half a minute is what a failover takes. */
export const defaultBreaker: BreakerOptions = { failureThreshold: 5, openMs: 30_000 }

/** Enough to finish a statement or a request; a handler that takes longer ignores its signal. */
export const defaultAbortGraceMs = 10_000
