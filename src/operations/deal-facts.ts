/** Reads what discrepancies are told from: provisions beside the messenger's tables and the outbox. */

import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database } from '../postgres/schema.js'
import type { ChatView } from './chat-view.js'
import type { DealFacts } from './discrepancy.js'

export interface FactsSource {
  readonly chatView: ChatView
  readonly topic: string
  /** Events are looked for only on rows that changed within it: older ones were deleted. */
  readonly eventRetentionMs: number
}

/** A statement of some ten milliseconds, so that nothing waits behind it. */
const batchRows = 200

/** Deals in id order, batch by batch, each batch with one statement and no transaction around. */
export async function* readDealFacts(
  db: Kysely<Database>,
  source: FactsSource,
  predicate: RawBuilder<boolean>,
): AsyncGenerator<DealFacts> {
  let after: RawBuilder<boolean> = sql<boolean>`true`
  for (;;) {
    const rows = await readBatch(db, source, sql<boolean>`${predicate} and ${after}`)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchRows) return
    after = sql<boolean>`p.id > ${last.id}::uuid`
  }
}

/** One deal's facts as they are now; undefined where the row is gone. */
export async function readFactsOf(
  db: Kysely<Database>,
  source: FactsSource,
  id: string,
): Promise<DealFacts | undefined> {
  const [facts] = await readBatch(db, source, sql<boolean>`p.id = ${id}::uuid`)
  return facts
}

/**
 * Whether there is a feed row is asked with LIMIT, which keeps the planner from reading the whole feed
 * for each batch: 110,000 deals with as many chats took 69 s without it, and take 18 s.
 */
async function readBatch(
  db: Kysely<Database>,
  { chatView, topic, eventRetentionMs }: FactsSource,
  predicate: RawBuilder<boolean>,
): Promise<DealFacts[]> {
  const listed = sql`messenger.deal_chat_provision_members m where m.provision_id = p.id`
  const { rows } = await sql<DealFacts>`
    select p.id, p.deal_id as "dealId", p.status, p.attempts, p.deal_tenant_id as "tenantId",
      p.chat_id as "chatId",
      p.attempts = 0 and p.next_attempt_at <= statement_timestamp() as "isDueAfresh",
      (select count(*)::int from ${listed}) as members,
      p.updated_at > statement_timestamp() - ${eventRetentionMs}::float8 * interval '1 millisecond'
        as "isRecent",
      case when c.id is not null then json_build_object(
        'id', c.id, 'kind', c.kind, 'status', c.status, 'dealTenantId', c.deal_tenant_id,
        'hasFeedRow', coalesce((select true from ${chatView.feedRows} f where f.chat_id = c.id limit 1), false),
        'membersMissing', (select count(*) from ${listed} and not exists (
          select from ${chatView.participants} x where x.chat_id = c.id and x.user_id = m.user_id)),
        'membersLeft', (select count(*) from ${listed} and exists (
          select from ${chatView.participants} x
          where x.chat_id = c.id and x.user_id = m.user_id and x.left_at is not null))
      ) end as chat,
      (select json_build_object('status', e.payload ->> 'Status', 'chatId', e.payload ->> 'ChatId')
        from messenger.outbox_events e
        where e.aggregate_id = p.deal_id and e.topic = ${topic} and e.skipped_at is null
        order by e.seq desc limit 1) as "lastWord"
    from messenger.deal_chat_provisions p
    left join ${chatView.chats} c on c.deal_id = p.deal_id
    where ${predicate}
    order by p.id
    limit ${batchRows}
  `.execute(db)
  return rows
}
