/**
 * What became of a send, put on record. Both statements touch only rows that are still undecided:
 * a relay that was replaced in mid-send can't undo what its successor, or an operator, has settled.
 */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'

/** PostgreSQL's integer ends here. */
const maxInteger = 2 ** 31 - 1

/** As chat provisions have it: enough for a reason, too little for a payload. */
const maxErrorLength = 512

/** Marks acknowledged events; fewer than given means that others had settled the rest. */
export async function markPublished(db: Kysely<Database>, ids: readonly string[]): Promise<number> {
  const result = await sql`
    update messenger.outbox_events
    set published_at = clock_timestamp(), last_error = null
    where id = any (${ids}::uuid[])
      and published_at is null and superseded_at is null and skipped_at is null
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

export interface Failure {
  readonly id: string
  readonly reason: string
  /** Milliseconds until the next attempt. */
  readonly delayMs: number
  /** The attempt with this number parks the event. */
  readonly maxAttempts: number
}

/** Spends an attempt of the event, and parks it when that was the last. */
export async function recordFailure(
  db: Kysely<Database>,
  failure: Failure,
): Promise<{ attempts: number; parked: boolean } | undefined> {
  const { rows } = await sql<{ attempts: number; parked: boolean }>`
    update messenger.outbox_events
    -- Whoever gave the row as many as an integer holds, it must not make this statement fail.
    set attempts = least(attempts, ${maxInteger} - 1) + 1,
        last_error = ${storable(failure.reason)},
        next_attempt_at = clock_timestamp() + ${failure.delayMs}::float8 * interval '1 millisecond',
        parked_at = case when attempts >= ${failure.maxAttempts} - 1 then clock_timestamp() end
    where id = ${failure.id}::uuid
      and published_at is null and superseded_at is null
      and skipped_at is null and parked_at is null
    returning attempts, parked_at is not null as parked
  `.execute(db)
  return rows[0]
}

/** U+0000 and lone surrogates would make this write fail, and the row would come round for ever. */
function storable(text: string): string {
  const short = text.slice(0, maxErrorLength)
  return short.replaceAll('\u0000', '\uFFFD').replace(/[\uD800-\uDFFF]/gu, '\uFFFD')
}
