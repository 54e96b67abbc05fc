/** What becomes of a job whose run has failed: another run after a wait, or a dead letter. */

import { backoffMs, type BackoffPolicy, type Random } from './backoff.js'
import { isFatal, type FailureKind, type FailureReason } from './failure.js'

export interface RetryPolicy {
  readonly backoff: BackoffPolicy
  /** Runs at most, ≥ 1; counts runs, not retries. */
  readonly maxAttempts: number
  /** Milliseconds since it was first due (or resurrected) after which no run may begin any more. */
  readonly maxAgeMs: number
}

export interface FailedRun {
  readonly kind: FailureKind
  /** Runs so far, the failed one among them, ≥ 1. */
  readonly attempts: number
  /** Milliseconds since the job was first due or resurrected. */
  readonly ageMs: number
  /** Milliseconds that the dependency asks to be left alone. */
  readonly retryAfterMs?: number | undefined
}

export type Decision =
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'dead-letter'; readonly reason: Exclude<FailureReason, 'Zombie'> }

/** The reason of a job that has used up its runs, or could never be run. */
const reasons = {
  transient: 'MaxRetriesExceeded',
  throttled: 'Throttled',
  timeout: 'Timeout',
  fatal: 'FatalError',
  'invalid-payload': 'InvalidPayload',
  'unknown-type': 'UnknownType',
} as const satisfies Record<FailureKind, FailureReason>

/**
 * Fatal kinds and the last attempt end the job. Otherwise it waits: the backoff, or longer where the
 * dependency has said for how long. A job that would be too old by then is a dead letter now.
 */
export function decideRetry(run: FailedRun, policy: RetryPolicy, random: Random): Decision {
  if (isFatal(run.kind) || run.attempts >= policy.maxAttempts) {
    return { kind: 'dead-letter', reason: reasons[run.kind] }
  }
  const delayMs = Math.max(backoffMs(policy.backoff, run.attempts, random), run.retryAfterMs ?? 0)
  if (run.ageMs + delayMs > policy.maxAgeMs) {
    return { kind: 'dead-letter', reason: 'RetryLifetimeExpired' }
  }
  return { kind: 'retry', delayMs }
}

/**
 * For a job that an open circuit keeps from running: no attempt is spent, it waits `delayMs`. One that
 * has run grows old like any other. One that never has is no retry: it waits for its first run as it
 * would in a backlog or a paused queue, or the first trouble after a weekend's pause would bury all of
 * the queue unrun.
 */
export function decidePostponement(
  job: {
    /** Runs so far, ≥ 0. */
    readonly attempts: number
    readonly ageMs: number
    readonly delayMs: number
  },
  policy: Pick<RetryPolicy, 'maxAgeMs'>,
): Decision {
  return job.attempts > 0 && job.ageMs + job.delayMs > policy.maxAgeMs
    ? { kind: 'dead-letter', reason: 'CircuitBreakerOpen' }
    : { kind: 'retry', delayMs: job.delayMs }
}
