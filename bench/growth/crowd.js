/** What lies around the due rows of a grown installation: Ready, poison and future ones. */

import { sql } from 'kysely'

const maxAttempts = 10
/** Rows of one statement: the product's connections end one that takes long. */
const portion = 50_000

async function inPortions(count, insert) {
  for (let from = 0; from < count; from += portion) {
    await insert(from + 1, Math.min(from + portion, count))
  }
}

/** Ready ones with their chats, so that the messenger's indexes have grown too. */
export function seedReady(db, count) {
  return inPortions(count, (from, to) =>
    sql`
    with deal as (
      insert into messenger.deal_chat_provisions
        (id, deal_id, chat_id, title, status, attempts, next_attempt_at, created_at, updated_at)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Deal ' || n, 'Ready', 1,
        now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'
      from generate_series(${from}::int, ${to}::int) n
      returning deal_id, chat_id, title
    )
    insert into messenger.chats (id, kind, status, deal_id, title)
    select chat_id, 'Deal', 'Active', deal_id, title from deal
  `.execute(db),
  )
}

export function seedPoison(db, count) {
  return seedFailed(db, count, sql`${maxAttempts}::int`, '-1 hour')
}

/** With attempts left, in backoff. */
export function seedFuture(db, count) {
  return seedFailed(db, count, sql`1 + n % ${maxAttempts - 1}::int`, '1 day')
}

/** Due ones that wait, without members: they are counted, never worked off. */
export function seedWaiting(db, count) {
  return seedFailed(db, count, sql`n % ${maxAttempts}::int`, '-1 hour')
}

function seedFailed(db, count, attempts, dueIn) {
  return inPortions(count, (from, to) =>
    sql`
    insert into messenger.deal_chat_provisions
      (id, deal_id, title, status, attempts, last_error, next_attempt_at, created_at, updated_at)
    select gen_random_uuid(), gen_random_uuid(), 'Deal ' || n, 'Failed', ${attempts},
      'guard:NO_MEMBERS', now() + ${dueIn}::interval + n * interval '1 microsecond',
      now() - interval '2 days', now() - interval '1 hour'
    from generate_series(${from}::int, ${to}::int) n
  `.execute(db),
  )
}

/** Events that no relay has taken yet. */
export function seedUnpublished(db, count) {
  return inPortions(count, (from, to) =>
    sql`
    insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version, payload)
    select gen_random_uuid(), 'DealChatProvision', gen_random_uuid(), 'DealChatStatusChanged',
      'bench', 1, '{}'
    from generate_series(${from}::int, ${to}::int)
  `.execute(db),
  )
}
