/** The writes of an attempt on its provision row, under the row's lock or guarded by its version. */

import { sql, type Kysely, type QueryResult, type Transaction } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import { dropOldAttempts, insertDeadAttempt, type FailedBy } from './failed-attempts.js'

export interface AttemptStamp {
  /** Runs counted so far, this one among them. */
  readonly attempts: number
  /** timestamptz as text: the cycle's AsOf, from which the next attempt is reckoned. */
  readonly asOf: string
  readonly backoffMs: number
}

export async function markReady(
  trx: Transaction<Database>,
  id: string,
  chatId: string,
  stamp: AttemptStamp,
): Promise<void> {
  const written = await sql`
    update messenger.deal_chat_provisions
    set status = 'Ready', chat_id = ${chatId}, last_error = null, ${attempted(stamp)}
    where id = ${id}
  `.execute(trx)
  assertWritten(written)
}

/** The failure, in the row and among the attempts that failed. */
export async function markFailed(
  trx: Transaction<Database>,
  id: string,
  lastError: string,
  stamp: AttemptStamp,
  { runId, durationMs }: FailedBy,
): Promise<void> {
  const written = await sql`
    with failed as (
      update messenger.deal_chat_provisions
      set status = 'Failed', last_error = ${lastError}, ${attempted(stamp)}
      where id = ${id}
      returning id, attempts, last_error, updated_at, next_attempt_at
    ),
    dropped as (${dropOldAttempts(id)})
    insert into messenger.chat_provision_attempts
      (provision_id, attempt, failed_at, error, duration_ms, next_attempt_at, run_id)
    select id, attempts, updated_at, last_error, ${durationMs}::int, next_attempt_at, ${runId}::uuid
    from failed
  `.execute(trx)
  assertWritten(written)
}

/**
 * Puts an attempt on record before its work is done, so that a row whose work kills the process
 * still reaches its last attempt. Gives the row's new version.
 *
 * @param lastError what it will have failed of if nobody lives to say
 */
export async function markUnderWay(
  trx: Transaction<Database>,
  id: string,
  lastError: string,
  stamp: AttemptStamp,
): Promise<string> {
  const { rows } = await sql<{ xmin: string }>`
    with dead as (${insertDeadAttempt(id, lastError)})
    update messenger.deal_chat_provisions
    set status = 'Provisioning', last_error = ${lastError}, ${attempted(stamp)}
    where id = ${id}
    returning xmin::text as xmin
  `.execute(trx)
  const xmin = rows[0]?.xmin
  if (xmin === undefined) throw new Error('a trigger kept the locked row from being written')
  return xmin
}

/** What a row was before an attempt was put on record; times are timestamptz as text. */
export interface RowBefore {
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  readonly nextAttemptAt: string
  readonly updatedAt: string
}

/** Takes an attempt off the record again, if nobody has touched the row since. */
export async function restoreRow(
  db: Kysely<Database>,
  id: string,
  xmin: string,
  before: RowBefore,
): Promise<void> {
  await sql`
    update messenger.deal_chat_provisions
    set status = ${before.status}, attempts = ${before.attempts}, last_error = ${before.lastError},
      next_attempt_at = ${before.nextAttemptAt}::timestamptz,
      updated_at = ${before.updatedAt}::timestamptz
    where id = ${id} and xmin::text = ${xmin}
  `.execute(db)
}

/** Closes a row that hangs without attempts left; its counters and schedule stay as they are. */
export async function markExhausted(
  trx: Transaction<Database>,
  id: string,
  lastError: string,
): Promise<void> {
  const written = await sql`
    with dead as (${insertDeadAttempt(id, lastError)})
    update messenger.deal_chat_provisions
    set status = 'Failed', last_error = coalesce(last_error, ${lastError}),
      updated_at = clock_timestamp()
    where id = ${id}
  `.execute(trx)
  assertWritten(written)
}

/** The row is locked, so only a trigger can keep a write from it; the event must not go out then. */
function assertWritten(result: QueryResult<unknown>): void {
  if (result.numAffectedRows !== 1n)
    throw new Error('a trigger kept the locked row from being written')
}

/** The columns that every attempt sets, whatever its outcome; from values or expressions. */
export const attempted = (stamp: { readonly [K in keyof AttemptStamp]: unknown }) => sql`
  attempts = ${stamp.attempts},
  next_attempt_at =
    ${stamp.asOf}::timestamptz + ${stamp.backoffMs}::float8 * interval '1 millisecond',
  updated_at = clock_timestamp()`
