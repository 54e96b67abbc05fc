/** One deal with all that belongs to it: row, failed attempts, chat, participants, events, audit. */

import { sql, type Kysely } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import type { ChatView } from './chat-view.js'
import { provisionColumns, type ProvisionLine } from './list-provisions.js'
import { eventState, type EventState } from './event-state.js'
import { readUuid } from './read-input.js'
import { utcText } from './utc-text.js'

export interface ProvisionDetail extends ProvisionLine {
  readonly chatId: string | null
  /** Listed members. */
  readonly members: number
  readonly chats: readonly { readonly id: string; readonly kind: string; readonly status: string }[]
  readonly activeParticipants: number
  readonly feedRows: number
  /** The latest that were kept, oldest first. */
  readonly failedAttempts: readonly FailedAttempt[]
  /** In order of seq. */
  readonly events: readonly {
    readonly id: string
    readonly seq: string
    readonly status: ProvisionStatus
    readonly state: EventState
    readonly occurredAt: string
    readonly publishedAt: string | null
  }[]
  /** What operators did to the deal, oldest first. */
  readonly audit: readonly {
    readonly at: string
    readonly actor: string
    readonly action: string
    readonly filter: string | null
    readonly reason: string
  }[]
}

export interface FailedAttempt {
  /** As the row counted it: from 1, again after each re-enqueue; 0 is the intake's own try. */
  readonly attempt: number
  readonly failedAt: string
  /** `class:code`, as lastError. */
  readonly error: string
  /** Null where the worker died of it. */
  readonly durationMs: number | null
  /** When the next one was due. */
  readonly nextAttemptAt: string
  /** The cycle that made it, where it was one and lived to tell. */
  readonly runId: string | null
}

/** Everything kept for one deal, or undefined. Titles and members' ids are left out: personal data. */
export async function showProvision(
  db: Kysely<Database>,
  chats: ChatView,
  dealId: string,
): Promise<ProvisionDetail | undefined> {
  const { rows } = await sql<ProvisionDetail>`
    select ${provisionColumns}, p.chat_id as "chatId",
      (select count(*)::int from messenger.deal_chat_provision_members m
        where m.provision_id = p.id) as members,
      (select coalesce(json_agg(json_build_object('id', c.id, 'kind', c.kind, 'status', c.status)), '[]')
        from ${chats.chats} c where c.deal_id = p.deal_id) as chats,
      (select count(*)::int from ${chats.participants} x join ${chats.chats} c on c.id = x.chat_id
        where c.deal_id = p.deal_id and x.left_at is null) as "activeParticipants",
      (select count(*)::int from ${chats.feedRows} f join ${chats.chats} c on c.id = f.chat_id
        where c.deal_id = p.deal_id) as "feedRows",
      (select coalesce(json_agg(json_build_object('attempt', f.attempt,
          'failedAt', ${utcText('f.failed_at')}, 'error', f.error, 'durationMs', f.duration_ms,
          'nextAttemptAt', ${utcText('f.next_attempt_at')}, 'runId', f.run_id) order by f.id), '[]')
        from messenger.chat_provision_attempts f where f.provision_id = p.id) as "failedAttempts",
      (select coalesce(json_agg(json_build_object('id', e.id, 'seq', e.seq::text,
          'status', e.payload ->> 'Status', 'state', ${eventState},
          'occurredAt', ${utcText('e.occurred_at')}, 'publishedAt', ${utcText('e.published_at')})
          order by e.seq), '[]')
        from messenger.outbox_events e where e.aggregate_id = p.deal_id) as events,
      (select coalesce(json_agg(json_build_object('at', ${utcText('a.at')}, 'actor', a.actor,
          'action', a.action, 'filter', a.filter, 'reason', a.reason) order by a.id), '[]')
        from messenger.chat_provision_audit a where a.deal_id = p.deal_id) as audit
    from messenger.deal_chat_provisions p
    where p.deal_id = ${readUuid('a deal id', dealId)}::uuid
  `.execute(db)
  return rows[0]
}
