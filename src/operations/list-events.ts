/** The list of events in the outbox, newest first. */

import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { eventState, isInState, type EventState } from './event-state.js'
import { readCursor, toPage, type ListOrder, type Page, type PageRequest } from './page.js'
import { readUuid } from './read-input.js'
import { utcText } from './utc-text.js'

/** Times are RFC 3339 in UTC. */
export interface EventLine {
  readonly id: string
  /** `ce_sequence`: rises per deal. */
  readonly seq: string
  readonly dealId: string
  /** What it says of the deal; null where its payload says nothing. */
  readonly status: string | null
  readonly state: EventState
  /** Sends that failed by the event's own fault. */
  readonly attempts: number
  readonly lastError: string | null
  readonly occurredAt: string
  readonly nextAttemptAt: string
  readonly publishedAt: string | null
}

/** What an event shows of itself, over `messenger.outbox_events e`. */
export const eventColumns: RawBuilder<unknown> = sql`
  e.id, e.seq::text as seq, e.aggregate_id as "dealId", e.payload ->> 'Status' as status,
  ${eventState} as state, e.attempts, e.last_error as "lastError",
  ${utcText('e.occurred_at')} as "occurredAt", ${utcText('e.next_attempt_at')} as "nextAttemptAt",
  ${utcText('e.published_at')} as "publishedAt"`

export interface EventFilter {
  readonly state?: EventState | undefined
  readonly dealId?: string | undefined
  /** How the last error begins. */
  readonly error?: string | undefined
}

export interface EventQuery extends PageRequest, EventFilter {}

const order: ListOrder = { name: 'outbox', parts: ['number'] }

/** Over `messenger.outbox_events e`. @throws AppError INPUT_INVALID for what is no deal id */
export function isChosen({ state, dealId, error }: EventFilter): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (state !== undefined) conditions.push(isInState[state])
  if (dealId !== undefined)
    conditions.push(sql`e.aggregate_id = ${readUuid('a deal id', dealId)}::uuid`)
  if (error !== undefined) conditions.push(sql`starts_with(e.last_error, ${error})`)
  return sql.join(conditions, sql` and `)
}

/** @throws AppError INPUT_INVALID for a foreign cursor, or what is no deal id */
export async function listEvents(
  db: Kysely<Database>,
  { limit, cursor, ...filter }: EventQuery,
): Promise<Page<EventLine>> {
  const [before] = readCursor(order, cursor) ?? []
  const after = before === undefined ? sql`true` : sql`e.seq < ${before}::bigint`
  const { rows } = await sql<EventLine>`
    select ${eventColumns}
    from messenger.outbox_events e
    where ${isChosen(filter)} and ${after}
    order by e.seq desc
    limit ${limit + 1}
  `.execute(db)
  return toPage(order, rows, limit, (item) => ({ item, place: [item.seq] }))
}
