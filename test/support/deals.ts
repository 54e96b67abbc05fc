/** Deals as the deal-created consumer would have left them, and what became of them. */

import { randomUUID } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Database, ProvisionStatus } from '../../src/postgres/schema.js'

export interface DealSeed {
  readonly dealId?: string
  readonly title?: string
  readonly status?: ProvisionStatus
  readonly attempts?: number
  readonly tenantId?: string | null
  readonly projectId?: string | null
  /** Default: an owner and two members. */
  readonly members?: readonly { readonly userId: string; readonly role: string }[]
  /** PostgreSQL interval since the row's last update and since it is due; default '10 minutes'. */
  readonly age?: string
}

export interface SeededDeal {
  readonly id: string
  readonly dealId: string
  readonly members: readonly { readonly userId: string; readonly role: string }[]
}

export function threeMembers(): { userId: string; role: string }[] {
  return [
    { userId: randomUUID(), role: 'Owner' },
    { userId: randomUUID(), role: 'Member' },
    { userId: randomUUID(), role: 'Observer' },
  ]
}

/** Inserts one provision row with its members; by default Failed, without a chat, long due. */
export async function seedDeal(db: Kysely<Database>, seed: DealSeed = {}): Promise<SeededDeal> {
  const id = randomUUID()
  const dealId = seed.dealId ?? randomUUID()
  const members = seed.members ?? threeMembers()
  const age = sql<Date>`clock_timestamp() - ${seed.age ?? '10 minutes'}::interval`
  await db
    .insertInto('messenger.deal_chat_provisions')
    .values({
      id,
      deal_id: dealId,
      title: seed.title ?? 'Объект №7, ЖК «Север»',
      project_id: seed.projectId ?? null,
      deal_tenant_id: seed.tenantId ?? null,
      status: seed.status ?? 'Failed',
      attempts: seed.attempts ?? 0,
      next_attempt_at: age,
      updated_at: age,
      created_at: age,
    })
    .execute()
  // In portions: a statement can't carry more than 65535 parameters.
  for (let from = 0; from < members.length; from += 1000) {
    await db
      .insertInto('messenger.deal_chat_provision_members')
      .values(
        members
          .slice(from, from + 1000)
          .map((member) => ({ provision_id: id, user_id: member.userId, role: member.role })),
      )
      .execute()
  }
  return { id, dealId, members }
}

export interface DealState {
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly chatId: string | null
  readonly lastError: string | null
  /** Is the next attempt in the future? */
  readonly backedOff: boolean
  readonly chats: number
  readonly participants: number
  readonly activeParticipants: number
  readonly feedRows: number
  /** Statuses of the deal's events, in order of seq. */
  readonly events: ProvisionStatus[]
}

/** Everything that the service may have written for a deal, in one look. */
export async function dealState(db: Kysely<Database>, dealId: string): Promise<DealState> {
  const { rows } = await sql<DealState>`
    select p.status, p.attempts, p.chat_id as "chatId", p.last_error as "lastError",
      p.next_attempt_at > clock_timestamp() as "backedOff",
      (select count(*)::int from messenger.chats c where c.deal_id = p.deal_id) as chats,
      (select count(*)::int from messenger.participants x join messenger.chats c on c.id = x.chat_id
        where c.deal_id = p.deal_id) as participants,
      (select count(*)::int from messenger.participants x join messenger.chats c on c.id = x.chat_id
        where c.deal_id = p.deal_id and x.left_at is null) as "activeParticipants",
      (select count(*)::int from messenger.chat_events e join messenger.chats c on c.id = e.chat_id
        where c.deal_id = p.deal_id and e.type = 'DealChatProvisioned') as "feedRows",
      (select coalesce(json_agg(o.payload ->> 'Status' order by o.seq), '[]')
        from messenger.outbox_events o where o.aggregate_id = p.deal_id) as events
    from messenger.deal_chat_provisions p where p.deal_id = ${dealId}
  `.execute(db)
  const state = rows[0]
  if (state === undefined) throw new Error(`no provision for deal ${dealId}`)
  return state
}

/** A seeded deal with three members after one good attempt. */
export const readyDeal = {
  status: 'Ready',
  attempts: 1,
  lastError: null,
  chats: 1,
  participants: 3,
  activeParticipants: 3,
  feedRows: 1,
  events: ['Ready'],
} as const
