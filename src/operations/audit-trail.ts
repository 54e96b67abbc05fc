/** The record of what operators did: who, what, to which rows, why. Lines are only ever added. */

import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import { AppError } from '../errors.js'
import type { Database } from '../postgres/schema.js'
import { readCursor, toPage, type ListOrder, type Page, type PageRequest } from './page.js'
import { quoted, readText, readUuid, type Order } from './read-input.js'
import { utcText } from './utc-text.js'

export const auditedActions = [
  ...(['requeue', 'reemit', 'reconcile', 'replay', 'skip'] as const),
  ...(['intake-retry', 'intake-discard'] as const),
  ...(['job-cancel', 'job-resurrect', 'job-priority', 'queue-change', 'undo'] as const),
] as const
export type AuditedAction = (typeof auditedActions)[number]

/** What the lines of one command have in common. */
export interface AuditEntry {
  readonly action: AuditedAction
  readonly order: Order
  /** How the rows were chosen, or null where they were named one by one. */
  readonly filter: string | null
}

/**
 * One line for one deal, in the transaction that changes it. Gives the line's id.
 *
 * @param before a json expression or query: what it takes to take the change back
 */
export async function appendAudit(
  trx: Transaction<Database>,
  entry: AuditEntry,
  dealId: string,
  before?: RawBuilder<unknown>,
): Promise<string> {
  return written(await insertLine(trx, entry, { dealId, affected: 1, before }))
}

/**
 * A line without a deal: what closes a command over many rows, with its filter and how many rows it
 * changed in all its tries, or what was done to a job or a queue, which the filter names.
 */
export async function appendOverall(
  db: Kysely<Database>,
  entry: AuditEntry,
  affected: number,
  before?: RawBuilder<unknown>,
): Promise<string> {
  return written(await insertLine(db, entry, { dealId: null, affected, before }))
}

/** The line that takes another back; undefined, and none is written, where one has done so before. */
export function appendUndo(
  db: Kysely<Database>,
  entry: AuditEntry,
  { id, dealId }: { readonly id: string; readonly dealId: string | null },
  affected = 1,
): Promise<string | undefined> {
  return insertLine(db, entry, { dealId, affected, undoes: id })
}

interface NewLine {
  readonly dealId: string | null
  readonly affected: number
  readonly before?: RawBuilder<unknown> | undefined
  readonly undoes?: string
}

async function insertLine(
  db: Kysely<Database>,
  { action, order, filter }: AuditEntry,
  { dealId, affected, before = sql`null`, undoes }: NewLine,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into messenger.chat_provision_audit
      (actor, action, deal_id, filter, reason, affected, before, undoes, request_id)
    values (${order.by}, ${action}, ${dealId}::uuid, ${filter}, ${order.reason}, ${affected},
      (${before})::json, ${undoes ?? null}::bigint, ${order.requestId ?? null})
    on conflict (undoes) where undoes is not null do nothing
    returning id::text as id
  `.execute(db)
  return rows[0]?.id
}

/**
 * The id of the line that the same request has written for this deal before, in a try that was broken
 * off; under the lock of what is changed, where rows are locked.
 */
export async function lineOfRequest(
  trx: Kysely<Database>,
  { action, order, filter }: AuditEntry,
  dealId?: string,
): Promise<string | undefined> {
  if (order.requestId === undefined) return undefined
  const { rows } = await sql<{ id: string }>`
    select a.id::text as id from messenger.chat_provision_audit a
    where a.request_id = ${order.requestId} and a.action = ${action}
      and a.filter is not distinct from ${filter}
      and (a.deal_id = ${dealId ?? null}::uuid or ${dealId === undefined}::boolean)
    limit 1
  `.execute(trx)
  return rows[0]?.id
}

function written(id: string | undefined): string {
  if (id === undefined) throw new Error('a trigger kept the line out of the audit')
  return id
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
  /** The line that this one takes back, and the one that takes this one back. */
  readonly undoes: string | null
  readonly undoneBy: string | null
  /** It keeps what an undo takes, and none has been; whether something has come of it, the undo sees. */
  readonly canBeUndone: boolean
}

export interface AuditQuery extends PageRequest {
  readonly dealId?: string | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
}

/** Over a: a change of one thing that keeps what was before, or the end of many such. */
export const isUndoable: RawBuilder<boolean> = sql<boolean>`(
  a.before is not null or (a.action = 'requeue' and a.deal_id is null))`

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
      a.filter, a.reason, a.affected, a.undoes::text as undoes, u.id::text as "undoneBy",
      u.id is null and ${isUndoable} as "canBeUndone"
    from messenger.chat_provision_audit a
    left join messenger.chat_provision_audit u on u.undoes = a.id
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
