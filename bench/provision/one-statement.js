/**
 * The work of one row as a single hand-written statement without any guard: the limit that the database
 * itself sets. The bare loop runs it, and so do the peers where the cost of their queue alone is to be seen.
 */

import { randomUUID } from 'node:crypto'

const text = `
  with due as materialized (
    select id, deal_id, title, project_id, deal_tenant_id from messenger.deal_chat_provisions
    where id = $1 and status = 'Failed' and next_attempt_at <= now()
    for no key update skip locked
  ), chat as (
    insert into messenger.chats (id, kind, status, deal_id, title, project_id, deal_tenant_id)
    select $2::uuid, 'Deal', 'Active', deal_id, title, project_id, deal_tenant_id from due
    on conflict (deal_id) do nothing returning id, deal_id
  ), feed as (
    insert into messenger.chat_events (id, chat_id, type, actor, correlation_id)
    select $3::uuid, id, 'DealChatProvisioned', 'System', $4::uuid from chat
  ), added as (
    insert into messenger.participants (id, chat_id, user_id, role)
    select gen_random_uuid(), chat.id, m.user_id, m.role
    from chat, messenger.deal_chat_provision_members m where m.provision_id = $1
  ), event as (
    insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, correlation_id)
    select $5::uuid, 'DealChatProvision', deal_id, 'DealChatStatusChanged', 'bench', 1,
      json_build_object('DealId', deal_id, 'ChatId', id, 'Status', 'Ready', 'OccurredAt', now()),
      $4::uuid from chat
  )
  update messenger.deal_chat_provisions p
  set status = 'Ready', chat_id = chat.id, attempts = attempts + 1, last_error = null,
    next_attempt_at = now() + interval '1 minute', updated_at = clock_timestamp()
  from chat where p.id = $1`

/** @param client a pg client or pool */
export async function provisionBare(client, id, runId) {
  const values = [id, randomUUID(), randomUUID(), runId, randomUUID()]
  const { rowCount } = await client.query({ name: 'provision', text, values })
  if (rowCount !== 1) throw new Error(`nothing was done for ${id}`)
}
