/** Waiting events for the relay bench, and the proof that all of them went out. */

import { sql } from 'kysely'

/** Published ones that lie in the table, as on any day within the retention. */
const history = 10_000

export async function seedEvents(db, topic, events) {
  await sql`truncate messenger.outbox_events`.execute(db)
  await insertEvents(db, topic, history, sql`now()`)
  await sql`vacuum analyze messenger.outbox_events`.execute(db)
  await sql`checkpoint`.execute(db)
  await insertEvents(db, topic, events)
}

/** As append-event.ts writes them, each of a deal of its own. */
async function insertEvents(db, topic, events, publishedAt = sql`null`) {
  await sql`
    insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, correlation_id,
       published_at)
    select gen_random_uuid(), 'DealChatProvision', deal, 'DealChatStatusChanged', ${topic}, 1,
      concat('{"DealId":"', deal, '","ChatId":"', gen_random_uuid(),
        '","Status":"Ready","OccurredAt":"2026-01-02T03:04:05.678Z"}')::json, run,
      ${publishedAt}
    from (select gen_random_uuid() as deal, gen_random_uuid() as run
          from generate_series(1, ${events}::int)) drawn
  `.execute(db)
}

/** @throws where an event is not marked, or Kafka has fewer than it was sent */
export async function checkPublished(db, storedMessages, events) {
  const { rows } = await sql`
    select count(*)::int as waiting from messenger.outbox_events where published_at is null
  `.execute(db)
  if (rows[0].waiting !== 0) throw new Error(`${rows[0].waiting} events are not marked`)
  checkStored(storedMessages, events)
}

export function checkStored(storedMessages, events) {
  if (storedMessages !== events) {
    throw new Error(`Kafka holds ${storedMessages} messages, ${events} were sent`)
  }
}
