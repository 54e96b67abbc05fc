/** Puts the demo's deals into the tables, as the consumer, the messenger and earlier runs left them. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { setChatFault } from './chat-faults.js'
import type { DemoDeal } from './demo-deal.js'

/** The text of one statement's parameter stays at some hundred kilobytes. */
const dealsPerStatement = 500

/** All in one transaction: the worker meets the deals as a whole, or none. */
export async function feedDeals(db: Kysely<Database>, deals: readonly DemoDeal[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (let from = 0; from < deals.length; from += dealsPerStatement) {
      await feedPortion(trx, deals.slice(from, from + dealsPerStatement))
    }
    for (const { dealId, fault } of deals) {
      if (fault !== undefined) await setChatFault(trx, { dealId, ...fault })
    }
  })
}

async function feedPortion(db: Kysely<Database>, deals: readonly DemoDeal[]): Promise<void> {
  const rows = deals.map(({ id, dealId, row }) => ({ id, dealId, ...row }))
  await sql`
    insert into messenger.deal_chat_provisions
      (id, deal_id, chat_id, title, project_id, deal_tenant_id, status, attempts, last_error,
       next_attempt_at, created_at, updated_at)
    select id, "dealId", "chatId", title, "projectId", "tenantId", status, attempts, "lastError",
      now() + "dueInSeconds" * interval '1 second',
      now() - "ageSeconds" * interval '1 second', now() - "ageSeconds" * interval '1 second'
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as deal (
      id uuid, "dealId" uuid, "chatId" uuid, title text, "projectId" uuid, "tenantId" uuid,
      status text, attempts int, "lastError" text, "dueInSeconds" int, "ageSeconds" int)
  `.execute(db)

  const members = deals.flatMap(({ id, members }) => members.map((each) => ({ id, ...each })))
  await sql`
    insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
    select id, "userId", role
    from jsonb_to_recordset(${JSON.stringify(members)}::jsonb) as member (
      id uuid, "userId" uuid, role text)
  `.execute(db)

  const chats = deals.flatMap(({ dealId, chat }) => (chat ? [{ dealId, ...chat }] : []))
  await sql`
    with chat as (
      select * from jsonb_to_recordset(${JSON.stringify(chats)}::jsonb) as chat (
        id uuid, "dealId" uuid, kind text, status text, "tenantId" uuid, announced boolean,
        participants jsonb)
    ), made as (
      insert into messenger.chats (id, kind, status, deal_id, title, deal_tenant_id)
      select id, kind, status, "dealId", 'made before', "tenantId" from chat
    ), told as (
      insert into messenger.chat_events (id, chat_id, type, actor)
      select gen_random_uuid(), id, 'DealChatProvisioned', 'System' from chat where announced
    )
    insert into messenger.participants (id, chat_id, user_id, role, left_at)
    select gen_random_uuid(), chat.id, "userId", role, case when "left" then now() end
    from chat, jsonb_to_recordset(chat.participants) as participant (
      "userId" uuid, role text, "left" boolean)
  `.execute(db)
}
