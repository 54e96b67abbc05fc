/**
 * What an operator may do to a single event: replay a parked one, or skip one that must not go out.
 * Both are guarded by the event's state; who did it and why is put on record by the caller, in the
 * same transaction.
 */

import { sql, type Transaction } from 'kysely'
import type { Database } from '../postgres/schema.js'

export type EventState = 'pending' | 'parked' | 'published' | 'superseded' | 'skipped'

export type EventActionResult =
  | { readonly done: true; readonly dealId: string }
  | { readonly done: false; readonly reason: 'not found' }
  /** The state in the way. `superseded` also where a newer event of the deal exists already. */
  | { readonly done: false; readonly reason: 'wrong state'; readonly state: EventState }

/**
 * Gives a parked event, or one that waits in backoff, all its attempts again, from now. One that is
 * superseded is refused: sent after its successor it would tell of the past. (Consumers would drop
 * it by `ce_sequence`, and a consumer that doesn't would go wrong.)
 *
 * @param onlyParked refuse one that waits in backoff too, for it was chosen as a parked one
 */
export async function replayEvent(
  trx: Transaction<Database>,
  id: string,
  { onlyParked = false }: { readonly onlyParked?: boolean } = {},
): Promise<EventActionResult> {
  await lockDealOf(trx, id)
  const { rows } = await sql<{ dealId: string }>`
    update messenger.outbox_events e
    set parked_at = null, attempts = 0, next_attempt_at = clock_timestamp()
    where e.id = ${id}::uuid
      and e.published_at is null and e.superseded_at is null and e.skipped_at is null
      and (e.parked_at is not null or not ${onlyParked}::boolean)
      and (e.parked_at is null or not exists (
        select from messenger.outbox_events newer
        where newer.aggregate_id = e.aggregate_id and newer.topic = e.topic and newer.seq > e.seq
      ))
    returning e.aggregate_id as "dealId"
  `.execute(trx)
  return rows[0] === undefined ? refuse(trx, id, 'superseded') : { done: true, ...rows[0] }
}

/**
 * As whoever writes an event of the deal does first: a newer one is there already, and seen by the next
 * statement, or comes after this transaction. Without it the relay could meet the newer one alone.
 */
async function lockDealOf(trx: Transaction<Database>, id: string): Promise<void> {
  await sql`
    select from messenger.deal_chat_provisions
    where deal_id = (select aggregate_id from messenger.outbox_events where id = ${id}::uuid)
    for no key update
  `.execute(trx)
}

/** Takes an event out that has not been published: the deal's later events no longer wait for it. */
export async function skipEvent(
  trx: Transaction<Database>,
  id: string,
): Promise<EventActionResult> {
  const { rows } = await sql<{ dealId: string }>`
    update messenger.outbox_events
    set skipped_at = clock_timestamp()
    where id = ${id}::uuid
      and published_at is null and superseded_at is null and skipped_at is null
    returning aggregate_id as "dealId"
  `.execute(trx)
  return rows[0] === undefined ? refuse(trx, id, 'pending') : { done: true, ...rows[0] }
}

export type UnskipResult =
  | { readonly done: true; readonly isPending: boolean }
  | Extract<EventActionResult, { readonly done: false }>

/**
 * Takes a skip back, while no newer event of the deal is there: sent after its successor it would tell
 * of the past, as a replay of a superseded one.
 *
 * @param skippedAt timestamptz as text, of the very skip that is meant
 */
export async function unskipEvent(
  trx: Transaction<Database>,
  id: string,
  skippedAt: string,
): Promise<UnskipResult> {
  await lockDealOf(trx, id)
  const { rows } = await sql<{ isPending: boolean }>`
    update messenger.outbox_events e
    set skipped_at = null
    where e.id = ${id}::uuid and e.skipped_at = ${skippedAt}::timestamptz
      and e.published_at is null and e.superseded_at is null
      and not exists (
        select from messenger.outbox_events newer
        where newer.aggregate_id = e.aggregate_id and newer.topic = e.topic and newer.seq > e.seq
      )
    returning e.parked_at is null as "isPending"
  `.execute(trx)
  if (rows[0] !== undefined) return { done: true, ...rows[0] }
  const refusal = await refuse(trx, id, 'parked')
  if (refusal.reason === 'not found' || refusal.state !== 'skipped') return refusal
  return { ...refusal, state: (await hasNewer(trx, id)) ? 'superseded' : 'skipped' }
}

async function hasNewer(trx: Transaction<Database>, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from messenger.outbox_events e
    join messenger.outbox_events newer
      on newer.aggregate_id = e.aggregate_id and newer.topic = e.topic and newer.seq > e.seq
    where e.id = ${id}::uuid
    limit 1
  `.execute(trx)
  return rows.length > 0
}

/** Why nothing was done; `undecided` names the state in the way where the row itself shows none. */
async function refuse(
  trx: Transaction<Database>,
  id: string,
  undecided: EventState,
): Promise<Extract<EventActionResult, { readonly done: false }>> {
  const { rows } = await sql<{ state: EventState | null }>`
    select case
      when published_at is not null then 'published'
      when superseded_at is not null then 'superseded'
      when skipped_at is not null then 'skipped'
      when parked_at is null then 'pending'
    end as state
    from messenger.outbox_events
    where id = ${id}::uuid
  `.execute(trx)
  const row = rows[0]
  if (row === undefined) return { done: false, reason: 'not found' }
  return { done: false, reason: 'wrong state', state: row.state ?? undecided }
}
