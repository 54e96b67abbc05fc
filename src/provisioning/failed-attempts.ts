/**
 * The attempts that failed, kept beside the row that tells of the last one alone: parts of the
 * statements that record a failure, and so no round trip more.
 */

import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database } from '../postgres/schema.js'

/** Who made the attempt, where it was a run of the job. */
export interface FailedBy {
  readonly runId: string | null
  /** Of the attempt, its tries in place among them; null where nobody knows. */
  readonly durationMs: number | null
}

/**
 * Of one deal: two full rounds at the usual limit, so that what was before a re-enqueue can be held
 * against what came after. A deal that fails for weeks under a high limit keeps no more.
 */
export const attemptsKept = 20

/** Makes room for one more of the row's, under its lock. */
export const dropOldAttempts = (provisionId: string): RawBuilder<unknown> => sql`
  delete from messenger.chat_provision_attempts
  where provision_id = ${provisionId}::uuid and id <= (
    select id from messenger.chat_provision_attempts where provision_id = ${provisionId}::uuid
    order by id desc offset ${attemptsKept - 1} limit 1)`

/**
 * Keeps the attempt whose worker died before it could: the row stands as it left it, under way. Once,
 * though the next attempt may be taken off the record again, and the row be found so a second time.
 */
export const insertDeadAttempt = (provisionId: string, error: string): RawBuilder<unknown> => sql`
  insert into messenger.chat_provision_attempts
    (provision_id, attempt, failed_at, error, next_attempt_at)
  select p.id, p.attempts, p.updated_at, coalesce(p.last_error, ${error}), p.next_attempt_at
  from messenger.deal_chat_provisions p
  where p.id = ${provisionId}::uuid and p.status = 'Provisioning' and p.attempts > 0
    and not exists (
      select from messenger.chat_provision_attempts a
      where a.provision_id = p.id and a.failed_at = p.updated_at)`

/** A statement holds no more row locks, and writes no more WAL, than this many deletes take. */
const pruneBatchRows = 1_000

/** Deletes attempts that failed longer ago than the retention, in batches; gives how many. */
export async function pruneAttempts(
  db: Kysely<Database>,
  retentionMs: number,
  signal: AbortSignal,
): Promise<number> {
  for (let total = 0; ;) {
    signal.throwIfAborted()
    const { numAffectedRows } = await sql`
      delete from messenger.chat_provision_attempts where (provision_id, id) in (
        select provision_id, id from messenger.chat_provision_attempts
        where failed_at < clock_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'
        order by failed_at limit ${pruneBatchRows})
    `.execute(db)
    const deleted = Number(numAffectedRows ?? 0n)
    total += deleted
    if (deleted < pruneBatchRows) return total
  }
}
