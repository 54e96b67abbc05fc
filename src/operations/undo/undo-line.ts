/**
 * Takes back what one line of the audit tells of: a deal's re-enqueue, an event's skip, a change of a
 * queue. Only while nothing has come of it; the undo has a line of its own, in the same transaction.
 */

import { inRowTransaction } from '../../postgres/row-transaction.js'
import { refuseWithoutRelay, type OutboxContext } from '../act-on-events.js'
import type { JobMoves } from '../act-on-jobs.js'
import { appendUndo, type AuditEntry } from '../audit-trail.js'
import type { OperatorContext } from '../provision-command.js'
import type { Order } from '../read-input.js'
import { undoQueueChange } from './undo-queue-change.js'
import { undoRequeue } from './undo-requeue.js'
import { undoSkip } from './undo-skip.js'
import { lineMark, UndoRefused, type UndoableLine } from './undoable-line.js'

export interface UndoContext extends OperatorContext, Pick<OutboxContext, 'relay'> {
  /** Without `announce` workers and pages hear of it at their next look. */
  readonly moves: Pick<JobMoves, 'changeQueue'> & Partial<Pick<JobMoves, 'announce'>>
}

/**
 * Gives the id of the undo's own line.
 *
 * @throws UndoRefused, AppError USAGE where Debezium relays, ChokaqError, or what the database throws
 */
export async function undoLine(
  context: UndoContext,
  line: UndoableLine,
  order: Order,
): Promise<string> {
  const { db } = context
  if (line.action === 'queue-change') {
    const { moves } = context
    const { id, queue } = await inRowTransaction(db, async (trx) => ({
      queue: await undoQueueChange(moves, line, order.by, trx),
      id: onRecord(await appendUndo(trx, undoEntry(line, order), line)),
    }))
    await moves.announce?.({ queue }).catch(() => undefined)
    return id
  }
  const act = actionOf(context, line)
  const { id, wroteEvent } = await inRowTransaction(db, async (trx) => {
    const event = await act(trx)
    return { id: onRecord(await appendUndo(trx, undoEntry(line, order), line)), wroteEvent: event }
  })
  if (wroteEvent) context.onEventWritten?.()
  return id
}

type Act = (trx: Parameters<typeof undoSkip>[0]) => Promise<boolean>

function actionOf(context: UndoContext, line: UndoableLine): Act {
  const { action, dealId } = line
  if (action === 'requeue' && dealId !== null)
    return (trx) => undoRequeue(trx, { ...line, dealId }, context)
  if (action === 'skip') {
    refuseWithoutRelay(context)
    return (trx) => undoSkip(trx, line)
  }
  throw new UndoRefused('NOT_UNDOABLE', `${action} can't be taken back`)
}

/** What the line was about, behind the mark of the line itself. */
export function undoEntry(line: UndoableLine, order: Order): AuditEntry {
  const what = [lineMark(line), ...(line.filter === null ? [] : [line.filter])].join(' ')
  return { action: 'undo', order, filter: what }
}

export function onRecord(id: string | undefined): string {
  if (id !== undefined) return id
  throw new UndoRefused('ALREADY_UNDONE', 'someone else was quicker to take it back')
}
