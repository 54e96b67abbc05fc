/**
 * Takes a deal's re-enqueue back: the row is again what it was, as long as nobody, the job first of
 * all, has written it since.
 *
 * A poison row's re-enqueue told crm Provisioning. That word is not called back, for a relay may be
 * sending it at this very moment, and crm would keep it for ever. Failed is said after it, under the
 * row's lock and so with a higher seq: last write wins, whether crm hears both, or only the second.
 */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import { appendDealChatStatusChanged } from '../../outbox/append-event.js'
import type { Database, ProvisionStatus } from '../../postgres/schema.js'
import type { OperatorContext } from '../provision-command.js'
import { UndoRefused, type UndoableLine } from './undoable-line.js'

/**
 * Over p, before the re-enqueue, in its transaction. That writes the row, and no sub-transaction does,
 * so the row's version afterwards is the transaction's own id.
 */
export const beforeRequeue: RawBuilder<unknown> = sql`json_build_object(
  'attempts', p.attempts, 'nextAttemptAt', p.next_attempt_at,
  'version', pg_current_xact_id()::xid::text)`

interface Row {
  readonly id: string
  readonly chatId: string | null
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly isUntouched: boolean
}

/** True where it wrote an event. @throws UndoRefused */
export async function undoRequeue(
  trx: Transaction<Database>,
  line: UndoableLine & { readonly dealId: string },
  { topic, maxAttempts }: OperatorContext,
): Promise<boolean> {
  const row = await lockRow(trx, line)
  if (!row.isUntouched || row.attempts > 0)
    throw new UndoRefused('CHANGED_SINCE', await whatHappened(trx, line, row))
  const { rows } = await sql<{ attempts: number }>`
    update messenger.deal_chat_provisions p
    set attempts = (a.before ->> 'attempts')::int,
      next_attempt_at = (a.before ->> 'nextAttemptAt')::timestamptz
    from messenger.chat_provision_audit a
    where p.id = ${row.id}::uuid and a.id = ${line.id}::bigint
    returning p.attempts
  `.execute(trx)
  const attempts = rows[0]?.attempts
  if (attempts === undefined) throw new Error('a trigger kept the locked row from being written')
  if (row.status !== 'Failed' || attempts < maxAttempts) return false
  await appendDealChatStatusChanged(trx, {
    ...{ topic, dealId: line.dealId, chatId: row.chatId, status: 'Failed' },
    ...{ correlationId: null, traceparent: null },
  })
  return true
}

async function lockRow(trx: Transaction<Database>, line: UndoableLine): Promise<Row> {
  const { rows } = await sql<Row>`
    select p.id, p.chat_id as "chatId", p.status, p.attempts,
      p.xmin::text = (select a.before ->> 'version' from messenger.chat_provision_audit a
        where a.id = ${line.id}::bigint) as "isUntouched"
    from messenger.deal_chat_provisions p
    where p.deal_id = ${line.dealId}::uuid
    for no key update of p
  `.execute(trx)
  const [row] = rows
  if (row === undefined) throw new UndoRefused('CHANGED_SINCE', 'its provision is gone')
  return row
}

async function whatHappened(
  trx: Transaction<Database>,
  line: UndoableLine,
  { status, attempts }: Row,
): Promise<string> {
  if (status === 'Ready') return 'its chat is made by now'
  if (attempts > 0) return 'the job has tried it since'
  const { rows } = await sql<{ actor: string; action: string }>`
    select actor, action from messenger.chat_provision_audit
    where deal_id = ${line.dealId}::uuid and id > ${line.id}::bigint
    order by id desc limit 1
  `.execute(trx)
  const [last] = rows
  return last === undefined
    ? 'its row was changed since'
    : `its row was changed since, last by ${last.actor} (${last.action})`
}
