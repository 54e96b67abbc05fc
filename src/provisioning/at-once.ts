/**
 * The good path in one statement, which is one round trip and one transaction: lock the row, make
 * the chat with its feed row and participants, write the event, mark the row Ready.
 *
 * Only what is surely right is done here. Whatever else there is about the row (someone holds it or
 * has touched it, a guard rejects, the deal has a chat already) makes the statement write nothing, or
 * fail, and the row is then done step by step (attempt.ts), which finds out what it is and records it.
 */

import { sql, type Kysely } from 'kysely'
import { uuidv7 } from '../uuid.js'
import { insertEvent, type DealChatStatusChanged } from '../outbox/append-event.js'
import { assertSendable } from '../outbox/event-contract.js'
import {
  compileOnce,
  type CompiledStatement,
  type ValueOf,
} from '../postgres/compiled-statement.js'
import type { Database } from '../postgres/schema.js'
import type { Candidate } from './candidates.js'
import { isBlank, membersAtMost } from './guards.js'
import type { MessengerChats } from './messenger-chats.js'
import type { ProvisionContext } from './provision.js'
import { attempted, type AttemptStamp } from './row-writes.js'

type Creation = NonNullable<MessengerChats['creation']>

interface Values extends AttemptStamp, Omit<DealChatStatusChanged, 'status'> {
  readonly id: string
  readonly xmin: string
  readonly chatId: string
  readonly correlationId: string
  readonly eventId: string
  readonly knownRoles: readonly string[]
}

type Provision = CompiledStatement<Values, { readonly chatId: string }>

/** One for each adapter, for an adapter brings its part of it. */
const statements = new WeakMap<Creation, Provision>()

/**
 * The candidate as it was read is due; that its version is the same under the lock says that it still
 * is. The lock is by primary key and skips what others hold; PostgreSQL checks the version again on
 * the newest row before it gives the lock.
 *
 * A transaction by itself can't set its own time limit, so it counts on the session's; where there is
 * none, as behind a transaction-pooling proxy, it writes nothing.
 *
 * Every write depends on the one before it, and the event on the chat, so `seq` is drawn under the row's
 * lock and a chat that could not be made leaves neither event nor Ready.
 *
 * @returns the id of the chat that was made, or undefined where the row must be done step by step
 * @throws whatever the database refuses: all of the statement is undone then
 */
export async function provisionAtOnce(
  db: Kysely<Database>,
  candidate: Candidate,
  stamp: AttemptStamp,
  event: Pick<DealChatStatusChanged, 'topic' | 'traceparent'> & { readonly correlationId: string },
  { creation, knownRoles }: ProvisionContext,
): Promise<string | undefined> {
  if (creation === undefined || isBlank(candidate.title)) return undefined
  assertSendable(event)
  const [made] = await statementOf(creation)(db, {
    id: candidate.id,
    xmin: candidate.xmin,
    dealId: candidate.dealId,
    chatId: uuidv7(),
    eventId: uuidv7(),
    knownRoles: [...knownRoles],
    attempts: stamp.attempts,
    asOf: stamp.asOf,
    backoffMs: stamp.backoffMs,
    topic: event.topic,
    traceparent: event.traceparent,
    correlationId: event.correlationId,
  })
  return made?.chatId
}

/**
 * Asked once a cycle: would the statement be bounded in time on a session of this pool? If not, each row
 * would be tried by it in vain.
 */
export async function limitsOwnTime(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ limited: boolean }>`
    select current_setting('statement_timeout') <> '0' as limited
  `.execute(db)
  return rows[0]?.limited === true
}

function statementOf(creation: Creation): Provision {
  const known = statements.get(creation)
  if (known !== undefined) return known
  const made: Provision = compileOnce((value) => statement(creation, value))
  statements.set(creation, made)
  return made
}

const statement = (creation: Creation, value: ValueOf<Values>) => {
  const [chatId, correlationId] = [value('chatId'), value('correlationId')] as const
  return sql<{ chatId: string }>`
    with due as materialized (
      select p.id, p.deal_id, p.title, p.project_id, p.deal_tenant_id
      from messenger.deal_chat_provisions p
      where p.id = ${value('id')} and p.xmin::text = ${value('xmin')}
        and current_setting('statement_timeout') <> '0'
      for no key update of p skip locked
    ),
    listed as materialized (
      -- As the primary key has them: whoever takes them in this order needn't sort (PostgreSQL 17).
      select m.user_id, m.role from messenger.deal_chat_provision_members m
      where m.provision_id = ${value('id')}
      order by m.user_id
      limit ${sql.lit(membersAtMost + 1)}
    ),
    -- Left to the planner: most adapters read it once, and a store for one row costs as much as its work.
    fit as (
      select due.* from due
      where (
        select count(*) between 1 and ${sql.lit(membersAtMost)}
          and bool_and(role = any (${value('knownRoles')}::text[]))
        from listed
      )
    ),
    ${creation({ chatId, correlationId })},
    event as (${insertEvent(eventOf(value), sql`made`)}),
    ready as (
      update messenger.deal_chat_provisions p
      set status = 'Ready', chat_id = made.id, last_error = null, ${attempted(stampOf(value))}
      from made cross join event
      where p.id = ${value('id')}
      returning p.chat_id
    )
    -- A chat that was made, but by another id, or not told of, or its row not marked: a trigger's work.
    -- The cast then fails, and undoes the statement whole.
    select case when ready.chat_id = ${chatId}::uuid then ready.chat_id
      else cast('not done whole: ' || made.id as uuid) end as "chatId"
    from made left join ready on true
  `
}

const eventOf = (value: ValueOf<Values>) => ({
  id: value('eventId'),
  topic: value('topic'),
  dealId: value('dealId'),
  chatId: value('chatId'),
  status: sql.lit('Ready'),
  correlationId: value('correlationId'),
  traceparent: value('traceparent'),
})

const stampOf = (value: ValueOf<Values>) => ({
  attempts: value('attempts'),
  asOf: value('asOf'),
  backoffMs: value('backoffMs'),
})
