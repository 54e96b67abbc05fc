/**
 * One cycle: take the run lock without waiting, read AsOf, work off what is due until none is left or
 * the time is up, close what hangs without attempts, keep the run's record, let go.
 */

import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { uuidv7 } from '../uuid.js'
import { createCircuitBreaker } from '../chokaq/kernel/circuit-breaker.js'
import type { RetryOptions } from '../config/config.js'
import { classifyFailure, isServerWide } from '../postgres/failure-class.js'
import type { Database } from '../postgres/schema.js'
import type { BusyLock, HeldLock } from '../postgres/session-lock.js'
import { logEvent } from '../telemetry/log-events.js'
import type { ProvisioningMetrics } from '../telemetry/metric-ports.js'
import { markFailed, withAttemptSpan, withCycleSpan } from '../telemetry/tracing.js'
import { unlessAborted } from '../timers.js'
import { limitsOwnTime } from './at-once.js'
import { attemptRow, closeExhausted, type AttemptContext } from './attempt.js'
import type { AttemptReturns } from './attempt-returns.js'
import { createCandidateFeed } from './candidate-feed.js'
import { createDueReader, readAsOf, readExhaustedCandidates, type Candidate } from './candidates.js'
import { createEndOfTurn } from './end-of-turn.js'
import { lastErrorText } from './last-error.js'
import { inLanes } from './lanes.js'
import type { ProvisionContext } from './provision.js'
import type { AttemptOutcome } from './retry-in-place.js'
import type { RunCounts, RunLedger, RunOutcome } from './run-ledger.js'
import { createTally } from './tally.js'

export interface CycleDependencies {
  readonly db: Kysely<Database>
  /** Rejects once the signal aborts, if it has not answered before. */
  readonly acquireLock: (stopping: AbortSignal) => Promise<HeldLock | BusyLock>
  readonly probe: () => Promise<boolean>
  readonly ledger: RunLedger
  readonly returns: AttemptReturns
  readonly retry: RetryOptions
  readonly topic: string
  readonly provisioning: ProvisionContext
  readonly log: Logger
  readonly metrics: ProvisioningMetrics
  readonly random: () => number
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Called after each commit that wrote an event. */
  readonly onEventWritten: () => void
}

export interface CycleSummary extends RunCounts {
  readonly jobRunId: string
  /** RFC 3339 in UTC with microseconds; null where the cycle was skipped, or stopped before it began. */
  readonly asOf: string | null
  readonly outcome: RunOutcome | 'skipped'
  /** Why it did not run to the end of its work, or null. */
  readonly reason: string | null
  readonly durationMs: number
}

/** Rows in a row that meet the same wall, after which the rest of the cycle is not tried. */
const outagesAtMost = 3

const hostStops = 'the host is stopping'
const nothing: RunCounts = { claimed: 0, provisioned: 0, retried: 0, failed: 0, skipped: 0 }

/**
 * Rejects only where it could not begin, for want of the database; from then on every end is an
 * outcome of the summary.
 *
 * @param stopping ends the cycle after the rows that are under way
 */
export async function runCycle(
  deps: CycleDependencies,
  stopping: AbortSignal,
): Promise<CycleSummary> {
  const jobRunId = uuidv7()
  const startedAt = deps.now()
  const log = deps.log.child({ jobRunId })
  const notBegun: Run['notBegun'] = (outcome, reason) => {
    const durationMs = Math.round(deps.now() - startedAt)
    return { jobRunId, asOf: null, outcome, reason, ...nothing, durationMs }
  }
  const lock = await deps.acquireLock(stopping).catch((error: unknown) => {
    if (stopping.aborted) return undefined
    throw error
  })
  if (lock === undefined) return notBegun('stopped', hostStops)
  if (!lock.held) {
    const reason = `the run lock is held by ${lock.holder}`
    logEvent(log, 'cycle skipped', { reason })
    return notBegun('skipped', reason)
  }
  try {
    return await withCycleSpan(jobRunId, () =>
      runUnderLock(deps, lock, { jobRunId, startedAt, log, stopping, notBegun }),
    )
  } finally {
    if (!(await lock.release())) log.warn({ event: 'run lock lost' }, 'run lock lost')
  }
}

interface Run {
  readonly jobRunId: string
  readonly startedAt: number
  readonly log: Logger
  readonly stopping: AbortSignal
  /** The summary where nothing was looked at, and so no record kept. */
  readonly notBegun: (outcome: 'skipped' | 'stopped', reason: string) => CycleSummary
}

interface End {
  readonly outcome: RunOutcome
  readonly reason: string | null
}

async function runUnderLock(
  deps: CycleDependencies,
  lock: HeldLock,
  run: Run,
): Promise<CycleSummary> {
  const { retry } = deps
  const { jobRunId, log } = run
  const asOf = await unlessAborted(readAsOf(deps.db), run.stopping)
  if (asOf === undefined) return run.notBegun('stopped', hostStops)
  const atOnce = await limitsOwnTime(deps.db)
  const careful = await deps.ledger.open(jobRunId, asOf)
  await deps.returns.settle()
  // Not by the child, which would say jobRunId twice.
  logEvent(deps.log, 'cycle started', { jobRunId, asOf, careful })

  const breaker = createCircuitBreaker({
    failureThreshold: outagesAtMost,
    openMs: retry.lockTtlMs,
    now: deps.now,
  })
  let trouble = 'nothing'
  const end = (): End | undefined => {
    if (run.stopping.aborted) return { outcome: 'stopped', reason: hostStops }
    if (lock.lost.aborted) return { outcome: 'aborted', reason: 'the run lock was lost' }
    if (breaker.state === 'open')
      return { outcome: 'aborted', reason: `no row could be worked off: ${trouble}` }
    if (deps.now() - run.startedAt >= retry.maxRunDurationMs)
      return {
        outcome: 'completed',
        reason: 'MaxRunDuration has passed; the rest is due next time',
      }
    return undefined
  }
  const tally = createTally(log, deps.metrics, deps.onEventWritten)
  const endOfTurn = createEndOfTurn()
  const at = {
    asOf,
    stuckProvisioningAfterMs: retry.stuckProvisioningAfterMs,
    maxAttempts: retry.maxAttempts,
  }
  const context: AttemptContext = {
    ...deps,
    jobRunId,
    at,
    atOnce,
    mayGoOn: () => !run.stopping.aborted && !lock.lost.aborted,
  }

  const workOff = async (
    read: (after: Candidate | undefined) => Promise<Candidate[]>,
    attempt: (candidate: Candidate) => Promise<AttemptOutcome>,
  ): Promise<void> => {
    const feed = createCandidateFeed(read, ({ length }) =>
      logEvent(log, 'batch claimed', { rows: length }),
    )
    const lanes = inLanes(retry.concurrency, async () => {
      if (end() !== undefined) return false
      const candidate = await feed.next()
      const lease = candidate && breaker.tryAcquire()
      if (candidate === undefined || lease === undefined) return false
      const outcome = await withAttemptSpan(attributesOf(candidate), async (span) => {
        const reached = await attempt(candidate)
        if ('failure' in reached) markFailed(span, reached.failure.code)
        return reached
      })
      endOfTurn.do(() => tally.add(candidate, outcome))
      const fault = faultBeyondTheRow(outcome)
      if (fault === undefined) lease.succeeded()
      else {
        trouble = fault
        lease.failed()
      }
      return true
    })
    await endOfTurn.settledAfter(lanes)
  }

  let finish: End
  try {
    await workOff(
      (after) => readExhaustedCandidates(deps.db, at, after, retry.batchSize),
      (candidate) => closeExhausted(candidate, context),
    )
    await workOff(createDueReader(deps.db, at, retry.batchSize), (candidate) =>
      attemptRow(candidate, careful || mayHaveKilled(candidate), context),
    )
    finish = end() ?? { outcome: 'completed', reason: unfinished(tally.untouched()) }
    await deps.ledger.close(jobRunId, finish.outcome, finish.reason, tally.counts())
  } catch (error) {
    log.error({ event: 'cycle failed', err: error }, 'cycle failed')
    finish = { outcome: 'aborted', reason: `the cycle could not go on: ${faultText(error)}` }
  }

  const durationMs = Math.round(deps.now() - run.startedAt)
  const counts = tally.counts()
  if (finish.outcome === 'completed') deps.metrics.cycleCompleted(durationMs / 1000)
  if (finish.outcome !== 'aborted')
    logEvent(log, 'cycle completed', { ...finish, ...counts, durationMs })
  else log.warn({ event: 'cycle aborted', ...finish, ...counts, durationMs }, 'cycle aborted')
  return { jobRunId, asOf, ...finish, ...counts, durationMs }
}

/**
 * What stood in the way of more than this row, or undefined: the row was left untouched, or its
 * failure is one that the server shows to every row.
 */
function faultBeyondTheRow(outcome: AttemptOutcome): string | undefined {
  if (outcome.kind === 'untouched') return faultText(outcome.error)
  if (!('failure' in outcome) || !isServerWide(outcome.failure.code)) return undefined
  return lastErrorText(outcome.failure)
}

function faultText(error: unknown): string {
  const { class: failureClass, code } = classifyFailure(error)
  return `${failureClass}:${code}`
}

function unfinished(rows: number): string | null {
  return rows === 0 ? null : `${rows} rows could not be worked off or recorded; the log says why`
}

/** A row found under way with an attempt on record: the process that made it may have died of it. */
function mayHaveKilled(candidate: Candidate): boolean {
  return candidate.status === 'Provisioning' && candidate.attempts > 0
}

function attributesOf(candidate: Candidate) {
  const { dealId, dealTenantId, attempts } = candidate
  return { dealId, dealTenantId, attempts: attempts + 1 }
}
