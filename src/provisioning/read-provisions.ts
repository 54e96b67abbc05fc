/** What an operator sees of provisions: the list by state, and one deal with all that belongs to it. */

import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'

/**
 * A time for people and JSON: RFC 3339 in UTC, or ±infinity. As text, for a Date can't hold all that
 * the column can, and the list must not fail over one odd row.
 */
function utcText(column: string): RawBuilder<string> {
  const time = sql.ref(column)
  return sql<string>`case when isfinite(${time})
    then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else ${time}::text end`
}

export interface ProvisionFilter {
  /** Only rows that are out of attempts. */
  readonly poison: boolean
  readonly status: ProvisionStatus | undefined
  readonly limit: number
}

/** Times are RFC 3339 in UTC. */
export interface ProvisionLine {
  readonly dealId: string
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  readonly nextAttemptAt: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** Most recently changed first. */
export async function listProvisions(
  db: Kysely<Database>,
  filter: ProvisionFilter,
  maxAttempts: number,
): Promise<ProvisionLine[]> {
  let query = db
    .selectFrom('messenger.deal_chat_provisions')
    .select([
      'deal_id as dealId',
      'status',
      'attempts',
      'last_error as lastError',
      utcText('next_attempt_at').as('nextAttemptAt'),
      utcText('created_at').as('createdAt'),
      utcText('updated_at').as('updatedAt'),
    ])
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(filter.limit)
  if (filter.poison) {
    query = query.where('status', '=', 'Failed').where('attempts', '>=', maxAttempts)
  }
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  return query.execute()
}

export interface ProvisionDetail extends ProvisionLine {
  readonly chatId: string | null
  readonly tenantId: string | null
  readonly members: number
  readonly chats: readonly { readonly id: string; readonly kind: string; readonly status: string }[]
  readonly activeParticipants: number
  readonly feedRows: number
  readonly events: readonly {
    readonly seq: string
    readonly status: ProvisionStatus
    readonly publishedAt: string | null
  }[]
  readonly audit: readonly {
    readonly at: string
    readonly actor: string
    readonly action: string
    readonly reason: string
  }[]
}

/** Everything kept for one deal, or undefined. Titles and members' ids are left out: personal data. */
export async function showProvision(
  db: Kysely<Database>,
  dealId: string,
): Promise<ProvisionDetail | undefined> {
  const { rows } = await sql<ProvisionDetail>`
    select p.deal_id as "dealId", p.status, p.attempts, p.last_error as "lastError",
      ${utcText('p.next_attempt_at')} as "nextAttemptAt", ${utcText('p.created_at')} as "createdAt",
      ${utcText('p.updated_at')} as "updatedAt", p.chat_id as "chatId", p.deal_tenant_id as "tenantId",
      (select count(*)::int from messenger.deal_chat_provision_members m
        where m.provision_id = p.id) as members,
      (select coalesce(json_agg(json_build_object('id', c.id, 'kind', c.kind, 'status', c.status)), '[]')
        from messenger.chats c where c.deal_id = p.deal_id) as chats,
      (select count(*)::int from messenger.participants x join messenger.chats c on c.id = x.chat_id
        where c.deal_id = p.deal_id and x.left_at is null) as "activeParticipants",
      (select count(*)::int from messenger.chat_events e join messenger.chats c on c.id = e.chat_id
        where c.deal_id = p.deal_id and e.type = 'DealChatProvisioned') as "feedRows",
      (select coalesce(json_agg(json_build_object('seq', o.seq::text,
          'status', o.payload ->> 'Status', 'publishedAt', o.published_at) order by o.seq), '[]')
        from messenger.outbox_events o where o.aggregate_id = p.deal_id) as events,
      (select coalesce(json_agg(json_build_object('at', a.at, 'actor', a.actor,
          'action', a.action, 'reason', a.reason) order by a.id), '[]')
        from messenger.chat_provision_audit a where a.deal_id = p.deal_id) as audit
    from messenger.deal_chat_provisions p
    where p.deal_id = ${dealId}
  `.execute(db)
  return rows[0]
}
