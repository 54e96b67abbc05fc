/** The state of all deals in one form, read from the model and from the database, to be compared. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../../src/postgres/schema.js'
import type { Model, ModelDeal } from './model-deals.js'

interface SeenDeal {
  readonly dealId: string
  readonly intention: {
    readonly status: string
    readonly attempts: number
    readonly lastError: string | null
    readonly hasChatId: boolean
    readonly due: boolean
    readonly listed: readonly string[]
  } | null
  /** INV-CHAT-2: at most one. */
  readonly chats: number
  /** INV-CE-2: at most one. */
  readonly feedRows: number
  /** INV-PART-1: each user once, active or left. */
  readonly active: readonly string[]
  readonly left: readonly string[]
  /** In order of seq. */
  readonly events: readonly string[]
}

export interface Seen {
  readonly deals: readonly SeenDeal[]
  readonly runIsOpen: boolean
  readonly audited: number
  readonly advisoryLocks: number
  readonly parked: number
}

export function lookAtModel(model: Model): Seen {
  return {
    deals: model.deals.map(seenOfModel).toSorted((a, b) => (a.dealId < b.dealId ? -1 : 1)),
    runIsOpen: model.runIsOpen,
    audited: model.audited,
    advisoryLocks: 0,
    parked: 0,
  }
}

function seenOfModel({ dealId, intention, chat, events }: ModelDeal): SeenDeal {
  return {
    dealId,
    intention: intention
      ? {
          status: intention.status,
          attempts: intention.attempts,
          lastError: intention.lastError,
          hasChatId: intention.hasChatId,
          due: intention.due,
          listed: [...intention.listed].toSorted(),
        }
      : null,
    chats: chat ? 1 : 0,
    feedRows: chat?.hasFeedRow === true ? 1 : 0,
    active: [...(chat?.active ?? [])].toSorted(),
    left: [...(chat?.left ?? [])].toSorted(),
    events: [...events],
  }
}

export async function lookAtDatabase(
  db: Kysely<Database>,
  dealIds: readonly string[],
): Promise<Seen> {
  const deals = await sql<SeenDeal>`
    select d.deal_id as "dealId",
      (select json_build_object('status', p.status, 'attempts', p.attempts,
          'lastError', p.last_error, 'hasChatId', p.chat_id is not null,
          'due', p.next_attempt_at <= clock_timestamp(),
          'listed', (select coalesce(json_agg(m.user_id::text order by m.user_id::text), '[]')
            from messenger.deal_chat_provision_members m where m.provision_id = p.id))
        from messenger.deal_chat_provisions p where p.deal_id = d.deal_id) as intention,
      (select count(*)::int from messenger.chats c where c.deal_id = d.deal_id) as chats,
      (select count(*)::int from messenger.chat_events e
        join messenger.chats c on c.id = e.chat_id
        where c.deal_id = d.deal_id and e.type = 'DealChatProvisioned') as "feedRows",
      ${participants(d, sql`x.left_at is null`)} as active,
      ${participants(d, sql`x.left_at is not null`)} as left,
      (select coalesce(json_agg(
          (o.payload ->> 'Status') || case
            when o.payload ->> 'ChatId' is null then ''
            when o.payload ->> 'ChatId' = (select c.id::text from messenger.chats c
              where c.deal_id = d.deal_id) then '+chat'
            else '+another chat' end
          order by o.seq), '[]')
        from messenger.outbox_events o where o.aggregate_id = d.deal_id) as events
    from unnest(${[...dealIds]}::uuid[]) as d (deal_id)
    order by d.deal_id::text collate "C"
  `.execute(db)
  const rest = await sql<Omit<Seen, 'deals'>>`
    select exists (select from messenger.chat_provision_runs where finished_at is null) as "runIsOpen",
      (select count(*)::int from messenger.chat_provision_audit) as audited,
      (select count(*)::int from messenger.intake_parked) as parked,
      (select count(*)::int from pg_locks where locktype = 'advisory' and database =
        (select oid from pg_database where datname = current_database())) as "advisoryLocks"
  `.execute(db)
  const [rows] = rest.rows
  if (rows === undefined) throw new Error('no look')
  return { deals: deals.rows, ...rows }
}

const d = sql`d.deal_id`

function participants(dealId: typeof d, which: typeof d): typeof d {
  return sql`(select coalesce(json_agg(x.user_id::text order by x.user_id::text), '[]')
    from messenger.participants x join messenger.chats c on c.id = x.chat_id
    where c.deal_id = ${dealId} and ${which})`
}
