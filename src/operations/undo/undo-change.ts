/**
 * The operator's undo: takes back what a line of the audit tells of, and by the line that closes a
 * re-enqueue of many deals, each of those deals. Each is taken back for itself, in a short transaction,
 * so a broken-off one goes on by being given again.
 */

import { sql, type Kysely } from 'kysely'
import { ChokaqError } from '../../chokaq/index.js'
import { AppError } from '../../errors.js'
import type { Database } from '../../postgres/schema.js'
import { appendUndo } from '../audit-trail.js'
import type { Order } from '../read-input.js'
import { whyNotNow } from '../row-end.js'
import { undoEntry, undoLine, type UndoContext } from './undo-line.js'
import {
  readUndoableLine,
  UndoRefused,
  type UndoableLine,
  type UndoRefusalCode,
} from './undoable-line.js'

export interface UndoCommand {
  /** The line of the audit. */
  readonly auditId: string
  readonly order: Order
  /** Ends the command after the deal that is under way. */
  readonly signal?: AbortSignal | undefined
  /** Told how many lines were gone through. */
  readonly onProgress?: ((lines: number) => void) | undefined
}

export interface UndoResult {
  /** Changes that were taken back by this call. */
  readonly affected: number
  /** Of a bulk change, those that were taken back before. */
  readonly skipped: number
  readonly refused: readonly UndoRefusal[]
  /** True where `signal` ended it early; the same command goes on from there. */
  readonly stopped: boolean
  /** The undo's own line, of a bulk change the closing one; null where nothing was taken back. */
  readonly auditId: string | null
}

export interface UndoRefusal {
  /** The line that stays. */
  readonly auditId: string
  readonly dealId: string | null
  readonly code: UndoRefusalCode
  readonly why: string
}

/** How many changes an undo of this line would go through. @throws AppError NOT_FOUND */
export async function countUndo(db: Kysely<Database>, auditId: string): Promise<number> {
  try {
    return (await readUndoableLine(db, auditId)).affected
  } catch (error) {
    if (error instanceof UndoRefused) return 0
    throw error
  }
}

/**
 * @throws AppError NOT_FOUND, INPUT_INVALID, USAGE where Debezium relays and an event is meant, or
 *   DATABASE_UNAVAILABLE where the database was lost: the same command goes on from there
 */
export async function undoChange(context: UndoContext, command: UndoCommand): Promise<UndoResult> {
  const { auditId, order } = command
  try {
    const line = await readUndoableLine(context.db, auditId)
    if (isOfMany(line)) return await undoMany(context, line, command)
    const own = await undoLine(context, line, order)
    return { affected: 1, skipped: 0, refused: [], stopped: false, auditId: own }
  } catch (error) {
    const { code, why } = refusalOf(error, 0)
    const refused = [{ auditId, dealId: null, code, why }]
    return { affected: 0, skipped: 0, refused, stopped: false, auditId: null }
  }
}

function isOfMany({ action, dealId }: UndoableLine): boolean {
  return action === 'requeue' && dealId === null
}

/** @throws what concerns more than this line */
function refusalOf(error: unknown, done: number): Pick<UndoRefusal, 'code' | 'why'> {
  if (error instanceof UndoRefused) return { code: error.code, why: error.message }
  if (error instanceof AppError || error instanceof ChokaqError) throw error
  return { code: 'NOT_NOW', ...whyNotNow(error, done) }
}

async function undoMany(
  context: UndoContext,
  closing: UndoableLine,
  { order, signal, onProgress }: UndoCommand,
): Promise<UndoResult> {
  const refused: UndoRefusal[] = []
  let affected = 0
  let skipped = 0
  let auditId: string | null = null
  const result = (stopped: boolean): UndoResult => ({
    ...{ affected, skipped, refused, stopped, auditId },
  })
  for await (const { id, dealId } of readLinesOf(context.db, closing)) {
    if (signal?.aborted === true) return result(true)
    try {
      await undoLine(context, await readUndoableLine(context.db, id), order)
      affected += 1
    } catch (error) {
      const refusal = refusalOf(error, affected)
      if (refusal.code === 'ALREADY_UNDONE') skipped += 1
      else refused.push({ auditId: id, dealId, ...refusal })
    }
    onProgress?.(affected + skipped + refused.length)
  }
  const all = affected + skipped
  // What was refused for a moment is left to another try of the same undo.
  if (all === 0 || refused.some(({ code }) => code === 'NOT_NOW')) return result(false)
  auditId = (await appendUndo(context.db, undoEntry(closing, order), closing, all)) ?? null
  return result(false)
}

/** A read of milliseconds. */
const batchLines = 500

/** The lines of the command that this one closes, oldest first: those behind the end of the one before. */
async function* readLinesOf(
  db: Kysely<Database>,
  closing: UndoableLine,
): AsyncGenerator<{ readonly id: string; readonly dealId: string }> {
  const isOfCommand = sql`a.action = ${closing.action} and a.actor = ${closing.actor}
    and a.reason = ${closing.reason} and a.filter = ${closing.filter} and a.id < ${closing.id}::bigint`
  const before = await sql<{ id: string }>`
    select coalesce(max(a.id), 0)::text as id from messenger.chat_provision_audit a
    where ${isOfCommand} and a.deal_id is null
  `.execute(db)
  let after = before.rows[0]?.id ?? '0'
  for (;;) {
    const { rows } = await sql<{ id: string; dealId: string }>`
      select a.id::text as id, a.deal_id as "dealId" from messenger.chat_provision_audit a
      where ${isOfCommand} and a.deal_id is not null and a.id > ${after}::bigint
      order by a.id limit ${batchLines}
    `.execute(db)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchLines) return
    after = last.id
  }
}
