/** Deletes old events, in small batches. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'

/**
 * Rows of one statement: some ten milliseconds of work, so that a poll or a writer behind it is not
 * kept waiting, and no long row locks.
 */
export const retentionBatchRows = 1_000

/**
 * Deletes the oldest published, superseded and skipped events that were settled before the time
 * given, a batch at most, and returns their number. What still waits, or is parked, is never
 * deleted, however old.
 *
 * The time is statement_timestamp, for clock_timestamp is volatile and no index is searched by it.
 * Two instances at once never wait for each other's rows, nor deadlock: each skips what is locked.
 */
export async function deleteSettledEvents(
  db: Kysely<Database>,
  retentionMs: number,
): Promise<number> {
  const result = await sql`
    delete from messenger.outbox_events
    where id = any (array(
      select id
      from messenger.outbox_events
      where coalesce(published_at, superseded_at, skipped_at)
        < statement_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'
      order by coalesce(published_at, superseded_at, skipped_at)
      limit ${sql.lit(retentionBatchRows)}
      for update skip locked
    ))
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/** Deletes these events, or as many as are still there and not locked, and returns their number. */
export async function deleteEvents(db: Kysely<Database>, ids: readonly string[]): Promise<number> {
  const result = await sql`
    delete from messenger.outbox_events
    where id = any (array(
      select id from messenger.outbox_events where id = any (${ids}::uuid[]) for update skip locked
    ))
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}
