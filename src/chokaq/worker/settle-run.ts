/** From the end of a run that did not succeed to the job's next state; what its circuit learns of any. */

import type { FetchedJob } from '../jobs/job.js'
import type { Random } from '../kernel/backoff.js'
import type { CircuitLease } from '../kernel/circuit-breaker.js'
import { countsForBreaker, type FailureKind } from '../kernel/failure.js'
import { decideRetry, type RetryPolicy } from '../kernel/retry-decision.js'
import type { CoreLog } from '../ports.js'
import { cancellationDetails } from '../storage/cancellation-details.js'
import { describeFailure, summarizeFailure } from './job-errors.js'
import type { DeathReason, JobMoves } from './job-moves.js'
import type { RunEnd } from './run-handler.js'

export interface EndedRun {
  readonly job: FetchedJob
  readonly attempt: number
  /** Since it was first due or resurrected, milliseconds. */
  readonly ageMs: number
  readonly end: Exclude<RunEnd, { kind: 'succeeded' }>
  /** Who wants it cancelled and why, where somebody does. */
  readonly cancel: { readonly by: string; readonly reason: string } | undefined
  /** The storage has said that it is no longer this worker's. */
  readonly lost: boolean
}

export interface SettleDependencies {
  readonly moves: JobMoves
  readonly policy: RetryPolicy
  readonly random: Random
  readonly log: CoreLog
}

export function tellCircuit(circuit: CircuitLease, end: RunEnd): void {
  if (end.kind === 'succeeded') circuit.succeeded()
  else if (end.kind === 'failed' && countsForBreaker(end.failure)) circuit.failed()
  else if (end.kind === 'unresponsive' && end.reason === 'timeout') circuit.failed()
  else circuit.released()
}

/** Resolves when the outcome is stored, or the job turned out to be another's. */
export function settleRun(run: EndedRun, deps: SettleDependencies): Promise<void> {
  const { end } = run
  switch (end.kind) {
    case 'failed':
      return settleFailure(run, { ...end, kind: end.failure }, deps)
    case 'unresponsive':
      return settleUnresponsive(run, end.reason, deps)
    case 'aborted':
      return settleAborted(run, end, deps)
  }
}

async function settleAborted(
  run: EndedRun,
  { reason, error }: Extract<RunEnd, { kind: 'aborted' }>,
  deps: SettleDependencies,
): Promise<void> {
  if (reason === 'shutdown') {
    // Its own failure it was not: the attempt is given back.
    const handOn = { delayMs: 0, error: 'ended by the shutdown of its worker', refundAttempt: true }
    await deps.moves.retry(run.job, handOn)
  } else if (reason === 'admin') await settleCancelled(run, deps)
  else if (!run.lost) {
    await settleFailure(run, { kind: 'transient', error }, deps, 'HeartbeatFailure')
  }
}

interface Failure {
  readonly kind: FailureKind
  readonly error: unknown
  readonly retryAfterMs?: number | undefined
}

async function settleFailure(
  run: EndedRun,
  failure: Failure,
  { moves, policy, random, log }: SettleDependencies,
  lastReason?: DeathReason,
): Promise<void> {
  const { job, attempt: attempts, ageMs, end } = run
  const { kind, error, retryAfterMs } = failure
  const decision = decideRetry({ kind, attempts, ageMs, retryAfterMs }, policy, random)
  const about = { jobId: job.lease.jobId, type: job.type, queue: job.queue, attempts, err: error }
  if (decision.kind === 'retry') {
    const { delayMs } = decision
    log.warn({ event: 'job retry', ...about, delayMs: Math.round(delayMs) }, 'job retry')
    await moves.retry(job, { delayMs, error: summarizeFailure(error) })
    return
  }
  const usedUp = decision.reason === 'MaxRetriesExceeded'
  const reason = usedUp ? (lastReason ?? decision.reason) : decision.reason
  log.error({ event: 'job failed', ...about, reason }, 'job failed')
  const details = describeFailure(error)
  await moves.deadLetter(job, { reason, details, durationMs: end.durationMs })
}

async function settleCancelled(run: EndedRun, { moves }: SettleDependencies): Promise<void> {
  await moves.deadLetter(run.job, {
    reason: 'Cancelled',
    details: cancellationDetails(run.cancel ?? { by: 'an operator', reason: '' }),
    durationMs: run.end.durationMs,
  })
}

/** Long enough for the process to be gone when somebody else begins. */
const afterShutdownMs = 15_000

/**
 * The handler may still be at work, so nobody is to begin it anew by himself: a dead letter, for a
 * person to look at. Only a process that goes now takes its handlers along, and hands the job on.
 */
async function settleUnresponsive(
  run: EndedRun,
  reason: string,
  deps: SettleDependencies,
): Promise<void> {
  const { job, end, lost } = run
  const about = { jobId: job.lease.jobId, type: job.type, reason }
  deps.log.error({ event: 'handler ignores its signal', ...about }, 'handler ignores its signal')
  if (lost) return
  if (reason === 'shutdown') {
    const error = 'ended by the shutdown of its worker, which its handler did not heed'
    const handOn = { delayMs: afterShutdownMs, error, refundAttempt: true }
    await deps.moves.retry(job, handOn)
  } else if (reason === 'admin') await settleCancelled(run, deps)
  else {
    await deps.moves.deadLetter(job, {
      reason: reason === 'timeout' ? 'Timeout' : 'HeartbeatFailure',
      details: `The handler was asked to end (${reason}) and did not: it may still be at work.`,
      durationMs: end.durationMs,
    })
  }
}
