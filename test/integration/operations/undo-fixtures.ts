/** An operator who takes changes back, and what a row is like to the last column. */

import type { Kysely } from 'kysely'
import { createJobOperator, createPostgresStorage } from '../../../src/chokaq/index.js'
import type { JobMoves } from '../../../src/operations/act-on-jobs.js'
import type { OperatorContext } from '../../../src/operations/provision-command.js'
import { undoChange, type UndoResult } from '../../../src/operations/undo/undo-change.js'
import type { UndoContext } from '../../../src/operations/undo/undo-line.js'
import type { Database } from '../../../src/postgres/schema.js'
import type { TestDatabase } from '../../support/test-database.js'
import { boris } from './operator-fixtures.js'

export function movesOn(db: Kysely<Database>): JobMoves {
  const registry = { find: () => undefined }
  return createJobOperator({
    ...{ storage: createPostgresStorage({ db }), registry, heartbeatMaxMs: 10_000 },
  })
}

export function undoContext(
  operator: OperatorContext,
  relay: UndoContext['relay'] = 'kafka',
): UndoContext {
  return { ...operator, relay, moves: movesOn(operator.db) }
}

/** Of one line, by boris; `auditId` null can't be taken back, and is a fault of the test. */
export function undo(operator: OperatorContext, auditId: string | null): Promise<UndoResult> {
  if (auditId === null) throw new Error('there is no line to take back')
  return undoChange(undoContext(operator), { auditId, order: boris })
}

/** The whole row of a deal, as text. */
export async function rowOf(database: TestDatabase, dealId: string): Promise<string> {
  const [row] = await database.query<{ row: string }>(
    `select p::text as row from messenger.deal_chat_provisions p where deal_id = $1`,
    [dealId],
  )
  if (row === undefined) throw new Error('no such deal')
  return row.row
}
