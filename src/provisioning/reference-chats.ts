/** The port's adapter to the reference layout of the messenger's tables (migrations/reference). */

import { sql } from 'kysely'
import { uuidv7 } from '../uuid.js'
import { membersAtMost, type Member } from './guards.js'
import type { MessengerChats } from './messenger-chats.js'

export const referenceChats: MessengerChats = {
  async findByDeal(trx, dealId) {
    const chat = await trx
      .selectFrom('messenger.chats')
      .select(['id', 'kind', 'status', 'deal_tenant_id as dealTenantId'])
      .where('deal_id', '=', dealId)
      .executeTakeFirst()
    return chat
  },

  async create(trx, chat) {
    // Waits for a rival's transaction on the same deal; if that commits, this does nothing.
    const result = await trx
      .insertInto('messenger.chats')
      .values({
        id: chat.id,
        kind: 'Deal',
        status: 'Active',
        deal_id: chat.dealId,
        title: chat.title,
        project_id: chat.projectId,
        deal_tenant_id: chat.dealTenantId,
      })
      .onConflict((conflict) => conflict.column('deal_id').doNothing())
      .executeTakeFirst()
    return result.numInsertedOrUpdatedRows === 1n
  },

  async reconcileParticipants(trx, chatId, provisionId) {
    // Ordered by user, so that two transactions on one chat take the rows in the same order. Read once:
    // what is given back is what was written.
    const { rows } = await sql<Member>`
      with listed as materialized (
        select user_id, role from messenger.deal_chat_provision_members
        where provision_id = ${provisionId} order by user_id limit ${membersAtMost + 1}),
      written as (
        insert into messenger.participants (id, chat_id, user_id, role)
        select gen_random_uuid(), ${chatId}, user_id, role from listed order by user_id
        on conflict (chat_id, user_id) do update set left_at = null
          where participants.left_at is not null)
      select user_id as "userId", role from listed
    `.execute(trx)
    return rows
  },

  async ensureFeedRow(trx, chatId, correlationId) {
    await sql`
      insert into messenger.chat_events (id, chat_id, type, actor, correlation_id)
      values (${uuidv7()}, ${chatId}, 'DealChatProvisioned', 'System', ${correlationId})
      on conflict (chat_id) where type = 'DealChatProvisioned' do nothing
    `.execute(trx)
  },

  creation: ({ chatId, correlationId }) => sql`
    chat as (
      insert into messenger.chats (id, kind, status, deal_id, title, project_id, deal_tenant_id)
      select ${chatId}::uuid, 'Deal', 'Active', deal_id, title, project_id, deal_tenant_id from fit
      -- An insert that is going to meet a conflict would still run the table's triggers.
      where not exists (select from messenger.chats c where c.deal_id = fit.deal_id)
      on conflict (deal_id) do nothing
      returning id
    ),
    feed as (
      insert into messenger.chat_events (id, chat_id, type, actor, correlation_id)
      select gen_random_uuid(), id, 'DealChatProvisioned', 'System', ${correlationId}::uuid from chat
      returning id
    ),
    added as (
      insert into messenger.participants (id, chat_id, user_id, role)
      select gen_random_uuid(), chat.id, user_id, role from chat cross join listed
      order by user_id
      returning id
    ),
    made as materialized (
      select id from chat
      where (select count(*) from feed) + (select count(*) from added) >= 0
    )`,
}
