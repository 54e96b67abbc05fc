/** What must hold after any storm, in the database and on the topic; each violation is a sentence. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../../src/postgres/schema.js'
import type { TopicMessage } from '../support/kafka.js'

/** What a storm has raged over. */
export interface Place {
  readonly admin: Kysely<Database>
  /** Runs until a row is poison. */
  readonly maxAttempts: number
  /** All that the topic holds, by partition and offset. */
  messages(): Promise<readonly TopicMessage[]>
}

/** Statements that give a row, as text, for each violation. */
const inTheDatabase = (
  maxAttempts: number,
): readonly { readonly rule: string; readonly statement: string }[] => [
  {
    rule: 'INV-CHAT-2: at most one chat per deal',
    statement: `select deal_id::text as it from messenger.chats where deal_id is not null
      group by deal_id having count(*) > 1`,
  },
  {
    rule: 'INV-PART-1: at most one participant row per chat and user',
    statement: `select chat_id::text as it from messenger.participants
      group by chat_id, user_id having count(*) > 1`,
  },
  {
    rule: 'INV-CE-2: exactly one feed row per chat that was made',
    statement: `select c.id::text as it from messenger.chats c
      join messenger.deal_chat_provisions p on p.chat_id = c.id
      left join messenger.chat_events e on e.chat_id = c.id and e.type = 'DealChatProvisioned'
      group by c.id having count(e.id) <> 1`,
  },
  {
    rule: 'a Ready row has the chat of its deal, with every member active in it',
    statement: `select p.deal_id::text as it from messenger.deal_chat_provisions p
      left join messenger.chats c on c.id = p.chat_id and c.deal_id = p.deal_id
      where p.status = 'Ready' and (c.id is null or exists (
        select from messenger.deal_chat_provision_members m where m.provision_id = p.id
          and not exists (select from messenger.participants x
            where x.chat_id = c.id and x.user_id = m.user_id and x.left_at is null)))`,
  },
  {
    rule: 'a Ready row has exactly one Ready event, and it is the deal’s last',
    statement: `select p.deal_id::text as it from messenger.deal_chat_provisions p
      left join lateral (
        select count(*) filter (where o.payload ->> 'Status' = 'Ready') as readies,
          (array_agg(o.payload ->> 'Status' order by o.seq desc))[1] as last
        from messenger.outbox_events o where o.aggregate_id = p.deal_id) e on true
      where p.status = 'Ready' and (e.readies <> 1 or e.last <> 'Ready')`,
  },
  {
    rule: 'a row out of attempts is Failed, and its last event says so',
    statement: `select p.deal_id::text as it from messenger.deal_chat_provisions p
      where p.attempts >= ${maxAttempts} and p.status <> 'Ready' and (p.status <> 'Failed'
        or 'Failed' is distinct from (select o.payload ->> 'Status' from messenger.outbox_events o
          where o.aggregate_id = p.deal_id order by o.seq desc limit 1))`,
  },
  {
    rule: 'work that was undone left nothing behind',
    statement: `select p.deal_id::text as it from messenger.deal_chat_provisions p
      where p.status <> 'Ready' and exists (
        select from messenger.chats c where c.deal_id = p.deal_id and c.title = p.title)`,
  },
]

export async function violations(world: Place): Promise<string[]> {
  const found: string[] = []
  for (const { rule, statement } of inTheDatabase(world.maxAttempts)) {
    const { rows } = await sql.raw<{ it: string }>(statement).execute(world.admin)
    for (const { it } of rows) found.push(`${rule}: ${it}`)
  }
  return [...found, ...(await onTheTopic(world))]
}

async function onTheTopic(world: Place): Promise<string[]> {
  const found: string[] = []
  const { rows: events } = await sql<{ id: string; payload: string }>`
    select id, payload::text as payload from messenger.outbox_events where published_at is not null
  `.execute(world.admin)
  const seen = new Map<string, string>()
  const lastOf = new Map<string, number>()
  for (const message of await world.messages()) {
    const id = message.headers['ce_id'] ?? ''
    if (seen.has(id)) continue
    seen.set(id, String(message.value))
    const deal = message.key ?? ''
    const sequence = Number(message.headers['ce_sequence'])
    if (sequence <= (lastOf.get(deal) ?? 0)) found.push(`order of first appearances: deal ${deal}`)
    lastOf.set(deal, sequence)
  }
  for (const { id, payload } of events) {
    if (seen.get(id) !== payload) found.push(`marked published but not on the topic: ${id}`)
  }
  return found
}

/** After every instance has ended. */
export async function locksLeft(world: Pick<Place, 'admin'>): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_locks where locktype = 'advisory'`.execute(world.admin)
  return rows[0]?.n ?? 0
}
