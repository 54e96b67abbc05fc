/** Which events may go out now, and what their going out settles for older, parked ones. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { maxMessageBytes, type OutboxRow } from './outbox-message.js'

/**
 * Of payloads in one answer. Ours have some 170 bytes each; those of a foreign writer may have a megabyte,
 * and a batch of such would take all of the process's memory, at each start anew.
 */
const bytesAtMost = 16 * 1024 * 1024

export interface DueEvent extends OutboxRow {
  readonly attempts: number
  /** Its deal has parked ones, which this one may settle (`supersedeParked`). */
  readonly deal_has_parked: boolean
}

/**
 * The oldest events that may be sent, in order of seq.
 *
 * By state, never from a cursor: an event that commits late, with a lower seq than others already
 * published, is found like any other. An event is held back while an older one of its deal waits
 * in backoff; one that is due itself comes before it in the same answer, or fills the batch.
 * A parked predecessor holds nothing back (`supersedeParked` settles it).
 *
 * As many as the limit says, or fewer large ones: the first is always among them.
 *
 * What no message can hold is read as null: a statement that fails over one row would hold up all.
 *
 * Whether an older one waits is looked up in ix_outbox_waiting for each event read, whatever the
 * statistics say: `offset 0` keeps the planner from making a join of it, which a burst that nobody
 * has analyzed yet turned into five million page reads a poll, and a sum keeps the index of seq out of it.
 * So it is for parked ones, where there are any at all.
 *
 * The relay's session prepares it, and one plan then serves all polls, of an empty table and of a burst:
 * hence the limit is part of the text, for of a limit that it doesn't know a plan takes a share of the
 * table; and what is under way is looked up in a hash, which only a constant array would have by itself.
 *
 * It takes no row locks: the relay's advisory lock, held by this very session, makes it the only
 * publisher, and an open transaction would outlive a send to a frozen broker.
 */
export async function selectDueEvents(
  db: Kysely<Database>,
  options: {
    readonly limit: number
    readonly exceptTopics: readonly string[]
    /** Ids of events that are being sent just now. */
    readonly underWay?: readonly string[]
  },
): Promise<DueEvent[]> {
  const { limit, exceptTopics, underWay = [] } = options
  const parked = sql`from messenger.outbox_events parked
    where parked.parked_at is not null and parked.published_at is null
      and parked.superseded_at is null and parked.skipped_at is null`
  const { rows } = await sql<Omit<DueEvent, 'occurred_at_ms'> & { occurred_at_ms: string | null }>`
    with due as (
    select
      e.id, e.seq as place, e.seq::text as seq, e.aggregate_type, e.aggregate_id, e.type, e.topic,
      e.contract_version, e.spec_version, e.correlation_id, e.traceparent, e.attempts,
      case when octet_length(e.payload::text) <= ${sql.lit(maxMessageBytes)} then e.payload::text end
        as payload,
      case when (select exists (select ${parked})) then exists (
        select ${parked} and parked.aggregate_id = e.aggregate_id offset 0
      ) else false end as deal_has_parked,
      to_char(tellable.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
      floor(extract(epoch from tellable.at) * 1000)::bigint::text as occurred_at_ms
    from messenger.outbox_events e
    cross join lateral (
      select case when e.occurred_at >= 'epoch' and e.occurred_at < '10000-01-01Z'
        then e.occurred_at end as at
    ) tellable
    where e.published_at is null and e.superseded_at is null
      and e.skipped_at is null and e.parked_at is null
      and e.next_attempt_at <= statement_timestamp()
      and e.topic <> all (${exceptTopics}::text[])
      and e.id not in (select unnest(${underWay}::uuid[]))
      and not exists (
        select from messenger.outbox_events older
        where older.aggregate_id = e.aggregate_id and older.topic = e.topic and older.seq + 0 < e.seq
          and coalesce(
            older.published_at, older.superseded_at, older.skipped_at, older.parked_at
          ) is null
          and older.next_attempt_at > statement_timestamp()
        offset 0
      )
    order by e.seq
    limit ${sql.lit(limit)}
    ),
    summed as (
      select due.*, sum(octet_length(payload)) over (order by place) as bytes from due
    )
    select id, seq, aggregate_type, aggregate_id, type, topic, contract_version, spec_version,
      correlation_id, traceparent, attempts, deal_has_parked, payload, occurred_at, occurred_at_ms
    from summed
    where coalesce(bytes - octet_length(payload), 0) < ${sql.lit(bytesAtMost)}
    order by place
  `.execute(db)
  return rows.map((row) => ({
    ...row,
    occurred_at_ms: row.occurred_at_ms === null ? null : Number(row.occurred_at_ms),
  }))
}

/**
 * Supersedes the parked events of these deals that have a newer one, and returns their number: the
 * contract is last write wins, so the newer one says all that the parked one could.
 */
export async function supersedeParked(
  db: Kysely<Database>,
  dealIds: readonly string[],
): Promise<number> {
  const result = await sql`
    update messenger.outbox_events parked
    set superseded_at = clock_timestamp()
    where parked.aggregate_id = any (${dealIds}::uuid[])
      and parked.parked_at is not null
      and parked.published_at is null and parked.superseded_at is null
      and parked.skipped_at is null
      and exists (
        select from messenger.outbox_events newer
        where newer.aggregate_id = parked.aggregate_id and newer.topic = parked.topic
          -- By the deal's index, whatever the statistics say: a sum keeps the one of seq out.
          and newer.seq + 0 > parked.seq
        offset 0
      )
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}
