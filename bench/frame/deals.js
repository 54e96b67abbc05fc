/** Deals for the benchmark: a history of Ready ones, and the due ones that a round works off. */

import { sql } from 'kysely'

/** Members of each deal. */
export const membersPerDeal = 3

/** Deals that are Ready with chat, participants and feed row, as any installation has them. */
export async function seedHistory(db, deals) {
  await seedDue(db, deals)
  await sql`
    insert into messenger.chats (id, kind, status, deal_id, title)
    select gen_random_uuid(), 'Deal', 'Active', deal_id, title from messenger.deal_chat_provisions
  `.execute(db)
  await sql`
    update messenger.deal_chat_provisions p set status = 'Ready', attempts = 1, chat_id = c.id
    from messenger.chats c where c.deal_id = p.deal_id
  `.execute(db)
  await sql`
    insert into messenger.participants (id, chat_id, user_id, role)
    select gen_random_uuid(), p.chat_id, m.user_id, m.role
    from messenger.deal_chat_provisions p
    join messenger.deal_chat_provision_members m on m.provision_id = p.id
  `.execute(db)
  await sql`
    insert into messenger.chat_events (id, chat_id, type, actor)
    select gen_random_uuid(), id, 'DealChatProvisioned', 'System' from messenger.chats
  `.execute(db)
  await sql`vacuum (analyze)`.execute(db)
}

export async function seedDue(db, deals) {
  await sql`
    with deal as (
      insert into messenger.deal_chat_provisions (id, deal_id, title, status, next_attempt_at)
      select gen_random_uuid(), gen_random_uuid(), 'Deal ' || n, 'Failed', now() - interval '1 hour'
      from generate_series(1, ${deals}::int) n
      returning id
    )
    insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
    select id, gen_random_uuid(), 'Member' from deal, generate_series(1, ${membersPerDeal}::int)
  `.execute(db)
}

/** @throws where a due deal was not really done, each part of it */
export async function checkDone(db, deals) {
  const { rows } = await sql`
    select count(*)::int as ready,
      count(distinct c.id)::int as chats,
      (select count(*)::int from messenger.participants) as participants,
      (select count(*)::int from messenger.chat_events) as feed,
      (select count(*)::int from messenger.outbox_events) as events
    from messenger.deal_chat_provisions p
    left join messenger.chats c on c.deal_id = p.deal_id
    where p.status = 'Ready'
  `.execute(db)
  const [{ ready, chats, participants, feed, events }] = rows
  if (
    ready !== chats ||
    participants !== ready * membersPerDeal ||
    feed !== ready ||
    events !== deals
  ) {
    throw new Error(`not all was done: ${JSON.stringify(rows[0])}, ${deals} deals`)
  }
}
