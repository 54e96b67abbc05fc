/**
 * The good path in one statement, which is one round trip and one transaction: lock the row, make
 * the chat with its feed row and participants, write the event, mark the row Ready.
 *
 * Only what is surely right is done here. Whatever else there is about the row (someone holds it or
 * has touched it, a guard rejects, the deal has a chat already) makes the statement write nothing, or
 * fail, and the row is then done step by step (attempt.ts), which finds out what it is and records it.
 */

import { sql, type Kysely } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { insertDealChatStatusChanged, type DealChatStatusChanged } from '../outbox/append-event.js'
import type { Database } from '../postgres/schema.js'
import type { Candidate } from './candidates.js'
import { isBlank, membersAtMost } from './guards.js'
import type { ProvisionContext } from './provision.js'
import { attempted, type AttemptStamp } from './row-writes.js'

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
  const chatId = uuidv7()
  const { correlationId } = event
  const ready = { ...event, dealId: candidate.dealId, chatId, status: 'Ready' } as const
  const { rows } = await sql<{ chatId: string }>`
    with due as materialized (
      select p.id, p.deal_id, p.title, p.project_id, p.deal_tenant_id
      from messenger.deal_chat_provisions p
      where p.id = ${candidate.id} and p.xmin::text = ${candidate.xmin}
        and current_setting('statement_timeout') <> '0'
      for no key update of p skip locked
    ),
    listed as materialized (
      select m.user_id, m.role
      from due join messenger.deal_chat_provision_members m on m.provision_id = due.id
      order by m.user_id
      limit ${membersAtMost + 1}
    ),
    fit as materialized (
      select due.* from due
      where (select count(*) from listed) between 1 and ${membersAtMost}::int
        and not exists (select from listed where role <> all(${[...knownRoles]}::text[]))
    ),
    ${creation({ chatId, correlationId })},
    event as (${insertDealChatStatusChanged(uuidv7(), ready, sql`made`)}),
    ready as (
      update messenger.deal_chat_provisions p
      set status = 'Ready', chat_id = made.id, last_error = null, ${attempted(stamp)}
      from made cross join event
      where p.id = ${candidate.id}
      returning p.chat_id
    )
    -- A chat that was made, but by another id, or not told of, or its row not marked: a trigger's work.
    -- The cast then fails, and undoes the statement whole.
    select case when ready.chat_id = ${chatId}::uuid then ready.chat_id
      else cast('not done whole: ' || made.id as uuid) end as "chatId"
    from made left join ready on true
  `.execute(db)
  return rows[0]?.chatId
}
