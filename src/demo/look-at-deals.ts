/** Everything that the worker may have written for the demo's deals, in one look. */

import { sql, type Kysely } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'

export interface DealLook {
  readonly dealId: string
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  readonly chatId: string | null
  /** Changes with every write on the row, whoever writes. */
  readonly version: string
  /** Of the deal, whatever their kind. */
  readonly chatIds: readonly string[]
  /** Of active participants, sorted. */
  readonly roles: readonly string[]
  readonly feedRows: number
  /** Statuses in the outbox, in order of seq. */
  readonly events: readonly ProvisionStatus[]
}

export type Looks = ReadonlyMap<string, DealLook>

/** Grouped rather than looked up row by row: it is asked twice a second, for up to 10,000 deals. */
export async function lookAtDeals(db: Kysely<Database>): Promise<Looks> {
  const { rows } = await sql<DealLook>`
    with events as (
      select aggregate_id, json_agg(payload ->> 'Status' order by seq) as statuses
      from messenger.outbox_events group by aggregate_id
    ), participants as (
      select chat_id, json_agg(role order by role collate "C") as roles
      from messenger.participants where left_at is null group by chat_id
    ), feed as (
      select chat_id, count(*)::int as rows
      from messenger.chat_events where type = 'DealChatProvisioned' group by chat_id
    ), chats as (
      select c.deal_id, json_agg(c.id) as ids, (array_agg(c.id))[1] as one
      from messenger.chats c group by c.deal_id
    )
    select p.deal_id as "dealId", p.status, p.attempts, p.last_error as "lastError",
      p.chat_id as "chatId", p.xmin::text as version,
      coalesce(chats.ids, '[]') as "chatIds", coalesce(participants.roles, '[]') as roles,
      coalesce(feed.rows, 0) as "feedRows", coalesce(events.statuses, '[]') as events
    from messenger.deal_chat_provisions p
    left join chats on chats.deal_id = p.deal_id
    left join participants on participants.chat_id = chats.one
    left join feed on feed.chat_id = chats.one
    left join events on events.aggregate_id = p.deal_id
  `.execute(db)
  return new Map(rows.map((row) => [row.dealId, row]))
}

export interface RunsLook {
  /** Cycles that ran to their end. */
  readonly finished: number
  /** Rows that they left alone, for someone else held them. */
  readonly skipped: number
}

export async function lookAtRuns(db: Kysely<Database>): Promise<RunsLook> {
  const { rows } = await sql<RunsLook>`
    select count(*)::int as finished, coalesce(sum(skipped), 0)::int as skipped
    from messenger.chat_provision_runs where outcome = 'completed'
  `.execute(db)
  return rows[0] ?? { finished: 0, skipped: 0 }
}
