/** The record of what operators did: who, what, to which rows, why. Lines are only ever added. */

import { sql, type Kysely, type Transaction } from 'kysely'
import { AppError } from '../errors.js'
import type { Database } from '../postgres/schema.js'
import { readCursor, toPage, type ListOrder, type Page, type PageRequest } from './page.js'
import { quoted, readText, readUuid, type Order } from './read-input.js'
import { utcText } from './utc-text.js'

export const auditedActions = [
  ...(['requeue', 'reemit', 'reconcile', 'replay', 'skip'] as const),
  ...(['intake-retry', 'intake-discard'] as const),
  ...(['job-cancel', 'job-resurrect', 'job-priority', 'queue-change'] as const),
] as const
export type AuditedAction = (typeof auditedActions)[number]

/** What the lines of one command have in common. */
export interface AuditEntry {
  readonly action: AuditedAction
  readonly order: Order
  /** How the rows were chosen, or null where they were named one by one. */
  readonly filter: string | null
}

/** One line for one deal, in the transaction that changes it. */
export async function appendAudit(
  trx: Transaction<Database>,
  entry: AuditEntry,
  dealId: string,
): Promise<void> {
  await insertLine(trx, entry, dealId, 1)
}

/**
 * A line without a deal: what closes a command over many rows, with its filter and how many rows it
 * changed in all its tries, or what was done to a job or a queue, which the filter names.
 */
export async function appendOverall(
  db: Kysely<Database>,
  entry: AuditEntry,
  affected: number,
): Promise<void> {
  await insertLine(db, entry, null, affected)
}

async function insertLine(
  db: Kysely<Database>,
  { action, order, filter }: AuditEntry,
  dealId: string | null,
  affected: number,
): Promise<void> {
  await db
    .insertInto('messenger.chat_provision_audit')
    .values({ actor: order.by, action, deal_id: dealId, filter, reason: order.reason, affected })
    .execute()
}

export interface AuditLine {
  readonly id: string
  /** RFC 3339 in UTC. */
  readonly at: string
  readonly actor: string
  readonly action: string
  /** Null in the line that closes a command over many rows. */
  readonly dealId: string | null
  readonly filter: string | null
  readonly reason: string
  readonly affected: number
}

export interface AuditQuery extends PageRequest {
  readonly dealId?: string | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
}

const listOrder: ListOrder = { name: 'audit', parts: ['number'] }

/** Newest first. @throws AppError INPUT_INVALID for a foreign cursor, or a filter that can't be */
export async function listAudit(
  db: Kysely<Database>,
  { dealId, actor, action, limit, cursor }: AuditQuery,
): Promise<Page<AuditLine>> {
  const [before] = readCursor(listOrder, cursor) ?? []
  const conditions = [sql`true`]
  if (dealId !== undefined) conditions.push(sql`a.deal_id = ${readUuid('a deal id', dealId)}::uuid`)
  if (actor !== undefined) conditions.push(sql`a.actor = ${readText('actor', actor)}`)
  if (action !== undefined) conditions.push(sql`a.action = ${readAction(action)}`)
  if (before !== undefined) conditions.push(sql`a.id < ${before}::bigint`)
  const { rows } = await sql<AuditLine>`
    select a.id::text as id, ${utcText('a.at')} as at, a.actor, a.action, a.deal_id as "dealId",
      a.filter, a.reason, a.affected
    from messenger.chat_provision_audit a
    where ${sql.join(conditions, sql` and `)}
    order by a.id desc
    limit ${limit + 1}
  `.execute(db)
  return toPage(listOrder, rows, limit, (item) => ({ item, place: [item.id] }))
}

function readAction(text: string): AuditedAction {
  const action = auditedActions.find((name) => name === text)
  if (action !== undefined) return action
  throw new AppError(
    'INPUT_INVALID',
    `Not an action: ${quoted(text)}. It is one of ${auditedActions.join(', ')}.`,
  )
}
