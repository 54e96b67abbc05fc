/** One event of the outbox with all that is kept of it, and what operators did to it. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { eventMark } from './act-on-events.js'
import { eventColumns, type EventLine } from './list-events.js'
import { readUuid } from './read-input.js'
import { utcText } from './utc-text.js'

export interface EventDetail extends EventLine {
  readonly topic: string
  readonly type: string
  readonly contractVersion: number
  /** The JSON text, byte for byte what Kafka gets. */
  readonly payload: string
  readonly correlationId: string | null
  readonly traceparent: string | null
  readonly supersededAt: string | null
  readonly skippedAt: string | null
  readonly parkedAt: string | null
  /** Oldest first. */
  readonly audit: readonly {
    readonly at: string
    readonly actor: string
    readonly action: string
    readonly reason: string
  }[]
}

/** The event, or undefined: unknown, or deleted after OUTBOX_RETENTION. */
export async function showEvent(
  db: Kysely<Database>,
  id: string,
): Promise<EventDetail | undefined> {
  const { rows } = await sql<EventDetail>`
    select ${eventColumns}, e.topic, e.type, e.contract_version as "contractVersion",
      e.payload::text as payload, e.correlation_id as "correlationId", e.traceparent,
      ${utcText('e.superseded_at')} as "supersededAt", ${utcText('e.skipped_at')} as "skippedAt",
      ${utcText('e.parked_at')} as "parkedAt",
      (select coalesce(json_agg(json_build_object('at', ${utcText('a.at')}, 'actor', a.actor,
          'action', a.action, 'reason', a.reason) order by a.id), '[]')
        from messenger.chat_provision_audit a
        where a.deal_id = e.aggregate_id and right(a.filter, ${eventMark(id).length}::int)
          = ${eventMark(id)}) as audit
    from messenger.outbox_events e
    where e.id = ${readUuid('an event id', id)}::uuid
  `.execute(db)
  return rows[0]
}
