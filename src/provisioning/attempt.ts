/**
 * One row's attempt: lock it, check it again, provision it, write the outcome and its event, all in
 * one short transaction. What fails is undone, and recorded by a transaction of its own right after.
 */

import type { Kysely, Transaction } from 'kysely'
import { backoffMs } from '../chokaq/kernel/backoff.js'
import type { RetryOptions } from '../config/config.js'
import { appendDealChatStatusChanged } from '../outbox/append-event.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import { currentTraceparent } from '../telemetry/tracing.js'
import { provisionAtOnce } from './at-once.js'
import type { AttemptReturns, OnRecord } from './attempt-returns.js'
import {
  lockDue,
  lockExhausted,
  lockVersion,
  type Candidate,
  type ClaimedProvision,
  type DueAt,
} from './candidates.js'
import { classifyRowFailure, lastErrorText, workerDied, type RowFailure } from './last-error.js'
import { provision, type ProvisionContext } from './provision.js'
import { retryInPlace, type AttemptOutcome, type RetryContext } from './retry-in-place.js'
import {
  markExhausted,
  markFailed,
  markReady,
  markUnderWay,
  type AttemptStamp,
} from './row-writes.js'

export interface AttemptContext extends RetryContext {
  readonly db: Kysely<Database>
  readonly jobRunId: string
  readonly at: DueAt
  readonly retry: RetryOptions
  readonly topic: string
  readonly provisioning: ProvisionContext
  readonly returns: AttemptReturns
  /** Whether a row may be tried by one statement; see `limitsOwnTime`. */
  readonly atOnce: boolean
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * @param careful put the attempt on record before its work is done, because this row's work, or
 *   that of another row of a run that died, may be what kills the process
 */
export async function attemptRow(
  candidate: Candidate,
  careful: boolean,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const startedAt = context.now()
  let onRecord: OnRecord | undefined
  let inSteps = careful || !context.atOnce
  const outcome = await retryInPlace(
    context,
    async () => {
      if (careful && onRecord === undefined) {
        onRecord = await putOnRecord(candidate, context)
        if (onRecord === undefined) return { kind: 'skipped' }
      }
      // Tried once: whatever it met, the steps meet it one by one, and hold less at a time.
      const done = inSteps ? undefined : tryAtOnce(candidate, context)
      inSteps = true
      return (await done) ?? provisionRow(candidate, onRecord, context)
    },
    (failure) => {
      const durationMs = Math.round(context.now() - startedAt)
      const record = () => recordFailure(candidate, onRecord, { failure, durationMs }, context)
      return retryInPlace(context, record, giveUp)
    },
  )
  if (outcome.kind === 'untouched' && onRecord !== undefined)
    await context.returns.giveBack(onRecord)
  return outcome
}

/**
 * Closes a row that hangs in Provisioning without attempts left: its worker died on the last one, or
 * the limit was lowered.
 */
export async function closeExhausted(
  candidate: Candidate,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const close = (): Promise<AttemptOutcome> =>
    inRowTransaction(context.db, async (trx) => {
      const row = await lockExhausted(trx, candidate.id, context.at)
      if (row === undefined) return { kind: 'skipped' }
      await markExhausted(trx, row.id, lastErrorText(workerDied))
      await appendEvent(trx, row, 'Failed', row.chatId, context)
      return { kind: 'poison', failure: workerDied, attempts: row.attempts }
    })
  return retryInPlace(context, close, giveUp)
}

/**
 * Undefined where the row must be done step by step; nothing was written then. The steps have the last
 * word on a failure of the row's own: the triggers of the messenger's tables may bear several
 * statements, each with its effects in sight of the next, and not all in one.
 */
async function tryAtOnce(
  candidate: Candidate,
  context: AttemptContext,
): Promise<AttemptOutcome | undefined> {
  const { db, jobRunId, topic, provisioning } = context
  const attempts = candidate.attempts + 1
  const event = { topic, correlationId: jobRunId, traceparent: currentTraceparent() }
  const made = stamp(attempts, context)
  try {
    const chatId = await provisionAtOnce(db, candidate, made, event, provisioning)
    return chatId === undefined ? undefined : { kind: 'provisioned', chatId, attempts }
  } catch (error) {
    if (isOwnFailure(error)) return undefined
    throw error
  }
}

function isOwnFailure(error: unknown): boolean {
  const { class: failureClass } = classifyRowFailure(error)
  return failureClass !== 'contention' && failureClass !== 'infrastructure'
}

async function provisionRow(
  candidate: Candidate,
  onRecord: OnRecord | undefined,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  return inRowTransaction(context.db, async (trx) => {
    const row = await lock(trx, candidate, onRecord, context)
    if (row === undefined) return { kind: 'skipped' }
    const attempts = onRecord?.attempts ?? row.attempts + 1
    const chatId = await provision(trx, row, context.jobRunId, context.provisioning)
    await markReady(trx, row.id, chatId, stamp(attempts, context))
    await appendEvent(trx, row, 'Ready', chatId, context)
    return { kind: 'provisioned', chatId, attempts }
  })
}

async function putOnRecord(
  candidate: Candidate,
  context: AttemptContext,
): Promise<OnRecord | undefined> {
  return inRowTransaction(context.db, async (trx) => {
    const row = await lockDue(trx, candidate.id, context.at)
    if (row === undefined) return undefined
    const attempts = row.attempts + 1
    const text = lastErrorText(workerDied)
    const xmin = await markUnderWay(trx, row.id, text, stamp(attempts, context))
    return { id: row.id, xmin, attempts, before: row }
  })
}

async function recordFailure(
  candidate: Candidate,
  onRecord: OnRecord | undefined,
  { failure, durationMs }: { readonly failure: RowFailure; readonly durationMs: number },
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const by = { runId: context.jobRunId, durationMs }
  return inRowTransaction(context.db, async (trx) => {
    const row = await lock(trx, candidate, onRecord, context)
    if (row === undefined) return { kind: 'skipped' }
    const attempts = onRecord?.attempts ?? row.attempts + 1
    await markFailed(trx, row.id, lastErrorText(failure), stamp(attempts, context), by)
    if (attempts < context.at.maxAttempts) return { kind: 'retried', failure, attempts }
    await appendEvent(trx, row, 'Failed', row.chatId, context)
    return { kind: 'poison', failure, attempts }
  })
}

/** What can't even be recorded leaves the row as it was: due again at the next cycle. */
function giveUp(_: RowFailure, error: unknown): Promise<AttemptOutcome> {
  const infrastructure = classifyRowFailure(error).class === 'infrastructure'
  return Promise.resolve({ kind: 'untouched', infrastructure, error })
}

function lock(
  trx: Transaction<Database>,
  candidate: Candidate,
  onRecord: OnRecord | undefined,
  context: AttemptContext,
): Promise<ClaimedProvision | undefined> {
  return onRecord === undefined
    ? lockDue(trx, candidate.id, context.at)
    : lockVersion(trx, candidate.id, onRecord.xmin)
}

function stamp(attempts: number, context: AttemptContext): AttemptStamp {
  return {
    attempts,
    asOf: context.at.asOf,
    backoffMs: backoffMs(context.retry.backoff, attempts, context.random),
  }
}

async function appendEvent(
  trx: Transaction<Database>,
  row: ClaimedProvision,
  status: ProvisionStatus,
  chatId: string | null,
  context: AttemptContext,
): Promise<void> {
  await appendDealChatStatusChanged(trx, {
    topic: context.topic,
    dealId: row.dealId,
    chatId,
    status,
    correlationId: context.jobRunId,
    traceparent: currentTraceparent(),
  })
}
