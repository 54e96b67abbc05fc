/**
 * Writes one event into the outbox, inside the transaction that changes what it tells of.
 *
 * The caller holds the row lock of the deal's row in deal_chat_provisions: only so `seq` rises per
 * deal in commit order, which is what consumers order by (`ce_sequence`). The messenger's own
 * consumer writes the same row with contracts/produce-event.sql.
 */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import { uuidv7 } from '../uuid.js'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import {
  aggregateType,
  assertKeepsContract,
  assertSendable,
  ContractViolation,
  contractVersion,
  eventType,
} from './event-contract.js'

export interface DealChatStatusChanged {
  readonly topic: string
  readonly dealId: string
  /** Null until there is a chat; Ready demands one. */
  readonly chatId: string | null
  readonly status: ProvisionStatus
  /** The jobRunId, or whatever led to the change. */
  readonly correlationId: string | null
  /** W3C trace context of the attempt that wrote it, captured now and restored at publishing. */
  readonly traceparent: string | null
}

/**
 * Appends the event and returns its id (UUIDv7, `ce_id` on every delivery).
 *
 * The time is the database's clock cut to milliseconds, taken once, so that the payload's
 * OccurredAt, the column, `ce_time` and the record's timestamp all tell the same instant.
 *
 * @throws ContractViolation when the event is not what contracts/ promises; the transaction must
 * then fail, for a bad event found by the relay would hold its deal.
 */
export async function appendDealChatStatusChanged(
  trx: Transaction<Database>,
  event: DealChatStatusChanged,
): Promise<string> {
  const id = uuidv7()
  const { rows } = await sql<{ payload: string }>`
    with event as (${insertDealChatStatusChanged(id, event)}) select payload from event
  `.execute(trx)
  const payload = rows[0]?.payload
  if (payload === undefined) throw new ContractViolation('a trigger kept the row out of the outbox')
  assertKeepsContract({ topic: event.topic, traceparent: event.traceparent, payload })
  return id
}

/**
 * The insert alone, checked; it returns `payload`.
 *
 * @throws ContractViolation where topic or traceparent could not be sent
 */
function insertDealChatStatusChanged(
  id: string,
  event: DealChatStatusChanged,
): RawBuilder<unknown> {
  assertSendable(event)
  return insertEvent({ id, ...event }, sql`(select) always`)
}

/** A value, or an expression that gives it. */
type Given<T> = T | RawBuilder<T>

/**
 * The insert to stand in a larger statement under the same row lock. Its payload is right by construction
 * (uuids, one of the statuses, a time); what goes beside it, topic and traceparent, is the caller's to
 * check (`assertSendable`).
 *
 * @param gate a table expression: the event is written where it gives one row, not where it gives none
 */
export function insertEvent(
  event: { readonly [K in 'id' | keyof DealChatStatusChanged]: Given<string | null> },
  gate: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version,
       payload, correlation_id, traceparent, occurred_at)
    select
      ${event.id}::uuid, ${sql.lit(aggregateType)}, ${event.dealId}::uuid, ${sql.lit(eventType)},
      ${event.topic}::text, ${sql.lit(contractVersion)},
      concat(
        '{"DealId":"', ${event.dealId}::uuid,
        '","ChatId":', coalesce('"' || ${event.chatId}::uuid || '"', 'null'),
        ',"Status":"', ${event.status}::text,
        '","OccurredAt":"',
        to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"}'
      )::json,
      ${event.correlationId}::uuid, ${event.traceparent}::text, occurred_at
    -- A volatile function keeps the planner from evaluating the subquery more than once.
    from (select date_trunc('milliseconds', clock_timestamp()) as occurred_at) clock, ${gate}
    returning payload::text as payload`
}
