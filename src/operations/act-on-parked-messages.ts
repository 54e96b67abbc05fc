/**
 * What an operator does with messages of crm that were set aside: takes them in after all, once this
 * version reads them or the database stores them, or discards what says nothing. Each goes together with
 * its line in the audit; a retry that was broken off is done by giving it again, for the deal is then known.
 */

import { sql, type Kysely, type Transaction } from 'kysely'
import { uuidv7 } from '../uuid.js'
import { readDealCreated } from '../intake/deal-created.js'
import { takeInDeal, type TakeInContext } from '../intake/take-in-deal.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { lastErrorText } from '../provisioning/last-error.js'
import { appendAudit, appendOverall, lineOfRequest, type AuditedAction } from './audit-trail.js'
import { findParkedMessage } from './parked-messages.js'
import type { Order } from './read-input.js'
import { whyNotNow } from './row-end.js'

export interface ParkedMessagesCommand {
  readonly messageIds: readonly string[]
  readonly order: Order | 'dry run'
  /** Ends the command after the message that is under way. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((messages: number) => void) | undefined
}

export interface ParkedMessagesResult {
  /** Messages that were dealt with by this call, or in a dry run would be. */
  readonly affected: number
  readonly skipped: number
  readonly refused: readonly { readonly messageId: string; readonly why: string }[]
  readonly stopped: boolean
}

/**
 * A deal whose chat can't be made is taken in as Failed, and is then the retry job's.
 *
 * @throws AppError DATABASE_UNAVAILABLE: the same command goes on from there
 */
export function retryParkedMessages(
  context: Omit<TakeInContext, 'mayGoOn'>,
  command: ParkedMessagesCommand,
): Promise<ParkedMessagesResult> {
  const { order } = command
  return eachOf(command, (id) => retryOne(context, id, order))
}

/** @throws AppError DATABASE_UNAVAILABLE */
export function discardParkedMessages(
  db: Kysely<Database>,
  command: ParkedMessagesCommand,
): Promise<ParkedMessagesResult> {
  const { order } = command
  return eachOf(command, (id) => discardOne(db, id, order))
}

type End = 'done' | { readonly why: string }

async function eachOf(
  { messageIds, signal, onProgress }: ParkedMessagesCommand,
  act: (id: string) => Promise<End>,
): Promise<ParkedMessagesResult> {
  const refused: { messageId: string; why: string }[] = []
  let affected = 0
  for (const id of messageIds) {
    if (signal?.aborted === true) return { affected, skipped: 0, refused, stopped: true }
    const end = await act(id).catch((error: unknown) => whyNotNow(error, affected))
    if (end === 'done') affected += 1
    else refused.push({ messageId: id, why: end.why })
    onProgress?.(affected + refused.length)
  }
  return { affected, skipped: 0, refused, stopped: false }
}

const unknown: End = { why: 'there is no such message: it was dealt with already' }

/** What the same request has done in a try that was broken off is done. */
async function unlessDone(
  db: Kysely<Database>,
  action: AuditedAction,
  id: string,
  order: Order | 'dry run',
): Promise<End> {
  if (order === 'dry run') return unknown
  const line = await lineOfRequest(db, { action, order, filter: markOf(id) })
  return line === undefined ? unknown : 'done'
}

async function retryOne(
  context: Omit<TakeInContext, 'mayGoOn'>,
  id: string,
  order: Order | 'dry run',
): Promise<End> {
  const message = await findParkedMessage(context.db, id)
  if (message === undefined) return unlessDone(context.db, 'intake-retry', id, order)
  const reading = readDealCreated(message.value)
  if (reading.kind === 'unreadable') return { why: `it still can't be read: ${reading.reason}` }
  if (order === 'dry run') return 'done'
  const { deal } = reading
  const outcome = await takeInDeal(deal, uuidv7(), { ...context, mayGoOn: () => true })
  if (outcome.kind === 'untouched') throw outcome.error
  if (outcome.kind === 'refused') {
    return { why: `the database refuses it: ${lastErrorText(outcome.failure)}` }
  }
  await settle(context.db, id, (trx) =>
    appendAudit(trx, { action: 'intake-retry', order, filter: markOf(id) }, deal.dealId),
  )
  return 'done'
}

async function discardOne(
  db: Kysely<Database>,
  id: string,
  order: Order | 'dry run',
): Promise<End> {
  if (order === 'dry run') {
    return (await findParkedMessage(db, id)) === undefined ? unknown : 'done'
  }
  const isDone = await settle(db, id, (trx) =>
    appendOverall(trx, { action: 'intake-discard', order, filter: markOf(id) }, 1),
  )
  return isDone ? 'done' : unlessDone(db, 'intake-discard', id, order)
}

/** Takes the message away, and puts that on record where it was still there. */
function settle(
  db: Kysely<Database>,
  id: string,
  record: (trx: Transaction<Database>) => Promise<unknown>,
): Promise<boolean> {
  return inRowTransaction(db, async (trx) => {
    const { numAffectedRows } = await sql`
      delete from messenger.intake_parked where id = ${id}::uuid
    `.execute(trx)
    const wasThere = numAffectedRows === 1n
    if (wasThere) await record(trx)
    return wasThere
  })
}

/** How a message is named in the audit's `filter`. */
function markOf(id: string): string {
  return `message=${id}`
}
