/** A line of the audit that is to be taken back, and why one can't be. */

import { sql, type Kysely } from 'kysely'
import { AppError } from '../../errors.js'
import type { Database } from '../../postgres/schema.js'
import { isUndoable } from '../audit-trail.js'
import { quoted } from '../read-input.js'

export const undoRefusalCodes = [
  /** Its kind can't be, or nothing was kept for it. */
  'NOT_UNDOABLE',
  'ALREADY_UNDONE',
  /** Something has come of it, or someone has changed the same thing. */
  'CHANGED_SINCE',
  /** Someone holds the row just now, or it failed: try again. */
  'NOT_NOW',
] as const
export type UndoRefusalCode = (typeof undoRefusalCodes)[number]

/** Ends the transaction of an undo, so that nothing of it stays. */
export class UndoRefused extends Error {
  override readonly name = 'UndoRefused'
  readonly code: UndoRefusalCode

  /** @param why for the operator, without its full stop */
  constructor(code: UndoRefusalCode, why: string) {
    super(why)
    this.code = code
  }
}

export interface UndoableLine {
  readonly id: string
  readonly actor: string
  readonly action: string
  readonly dealId: string | null
  readonly filter: string | null
  readonly reason: string
  readonly affected: number
  /** What was kept for an undo, as JSON has it; null in the line that closes a command over many. */
  readonly before: unknown
}

/** @throws AppError INPUT_INVALID */
export function readLineId(text: string): string {
  if (/^\d{1,18}$/.test(text)) return text
  throw new AppError(
    'INPUT_INVALID',
    `Not a line of the audit: ${quoted(text)}. It is a number, as the audit's list shows it.`,
  )
}

/**
 * The line, if it can be taken back as far as the audit tells.
 *
 * @throws AppError NOT_FOUND, or UndoRefused
 */
export async function readUndoableLine(db: Kysely<Database>, id: string): Promise<UndoableLine> {
  const { rows } = await sql<
    UndoableLine & { isUndoable: boolean; undoneBy: string | null; undoneAt: string | null }
  >`
    select a.id::text as id, a.actor, a.action, a.deal_id as "dealId", a.filter, a.reason, a.affected, a.before,
      ${isUndoable} as "isUndoable", u.actor as "undoneBy",
      to_char(u.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "undoneAt"
    from messenger.chat_provision_audit a
    left join messenger.chat_provision_audit u on u.undoes = a.id
    where a.id = ${readLineId(id)}::bigint
  `.execute(db)
  const [row] = rows
  if (row === undefined) throw new AppError('NOT_FOUND', `The audit has no line ${id}.`)
  const { isUndoable: can, undoneBy, undoneAt, ...line } = row
  if (undoneBy !== null)
    throw new UndoRefused(
      'ALREADY_UNDONE',
      `${undoneBy} has taken it back at ${undoneAt ?? ''} UTC`,
    )
  if (can) return line
  throw new UndoRefused(
    'NOT_UNDOABLE',
    `nothing was kept by which ${row.action} could be taken back`,
  )
}

/** How the undo's own line names what it takes back, in its `filter`. */
export function lineMark({ id }: Pick<UndoableLine, 'id'>): string {
  return `line=${id}`
}
