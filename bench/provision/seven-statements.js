/**
 * The work of one row as the handler of a job is written by hand: a transaction of seven prepared
 * statements, one for each table and step. So the peers run it, as people would.
 */

import { randomUUID } from 'node:crypto'

const statements = {
  lock: `select id, deal_id, title, project_id, deal_tenant_id
    from messenger.deal_chat_provisions
    where id = $1 and status = 'Failed' and next_attempt_at <= now()
    for no key update skip locked`,
  find: 'select id from messenger.chats where deal_id = $1',
  chat: `insert into messenger.chats (id, kind, status, deal_id, title, project_id, deal_tenant_id)
    values ($1, 'Deal', 'Active', $2, $3, $4, $5)`,
  feed: `insert into messenger.chat_events (id, chat_id, type, actor, correlation_id)
    values ($1, $2, 'DealChatProvisioned', 'System', $3)`,
  participants: `insert into messenger.participants (id, chat_id, user_id, role)
    select gen_random_uuid(), $1, user_id, role
    from messenger.deal_chat_provision_members where provision_id = $2`,
  event: `insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, correlation_id)
    values ($1, 'DealChatProvision', $2, 'DealChatStatusChanged', 'bench', 1, $3, $4)`,
  ready: `update messenger.deal_chat_provisions
    set status = 'Ready', chat_id = $1, attempts = attempts + 1, last_error = null,
      next_attempt_at = now() + interval '1 minute', updated_at = clock_timestamp()
    where id = $2`,
}

/** @param pool a pg pool */
export async function provisionInSteps(pool, id, runId) {
  const client = await pool.connect()
  const run = async (name, values) =>
    (await client.query({ name, text: statements[name], values })).rows
  try {
    await client.query('begin')
    const [row] = await run('lock', [id])
    if (row === undefined) throw new Error(`nothing is due for ${id}`)
    const [found] = await run('find', [row.deal_id])
    if (found !== undefined) throw new Error(`there is a chat already for ${id}`)
    const chatId = randomUUID()
    await run('chat', [chatId, row.deal_id, row.title, row.project_id, row.deal_tenant_id])
    await run('feed', [randomUUID(), chatId, runId])
    await run('participants', [chatId, id])
    const OccurredAt = new Date().toISOString()
    const payload = { DealId: row.deal_id, ChatId: chatId, Status: 'Ready', OccurredAt }
    await run('event', [randomUUID(), row.deal_id, JSON.stringify(payload), runId])
    await run('ready', [chatId, id])
    await client.query('commit')
  } finally {
    client.release()
  }
}
