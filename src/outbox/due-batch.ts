/** A batch as the relay reads it: due events, each as a message or with the reason why it is none. */

import type { Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { selectDueEvents, supersedeParked, type DueEvent } from './due-events.js'
import { logOutbox, type OutboxLog } from './outbox-log.js'
import { toOutgoingMessage, UnreadableEvent } from './outbox-message.js'
import type { OutgoingMessage } from './publisher.js'

export interface ReadEvent {
  readonly row: DueEvent
  readonly message: OutgoingMessage | UnreadableEvent
}

export interface DueBatch {
  readonly events: readonly ReadEvent[]
  /** As many as were asked for: there may be more behind them. */
  readonly full: boolean
  /** Just before the look, by the given clock. */
  readonly readAt: number
}

export interface ReadContext {
  /** The lock's own session: a relay that has lost the lock can neither read nor mark. */
  readonly db: Kysely<Database>
  readonly batchSize: number
  readonly log: OutboxLog
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Reads the oldest due events but those of `exceptTopics` and `underWay`, and supersedes the parked ones
 * that these settle.
 */
export async function readDueBatch(
  context: ReadContext,
  exceptTopics: readonly string[],
  underWay: readonly string[] = [],
): Promise<DueBatch> {
  const { db, batchSize, log } = context
  const readAt = context.now()
  const rows = await selectDueEvents(db, { limit: batchSize, exceptTopics, underWay })
  const deals = new Set(rows.filter((row) => row.deal_has_parked).map((row) => row.aggregate_id))
  if (deals.size > 0) {
    const superseded = await supersedeParked(db, [...deals])
    if (superseded > 0) logOutbox(log, 'outbox superseded', { events: superseded })
  }
  const events = rows.map((row) => ({ row, message: readable(row) }))
  return { events, full: rows.length === batchSize, readAt }
}

function readable(row: DueEvent): OutgoingMessage | UnreadableEvent {
  try {
    return toOutgoingMessage(row)
  } catch (error) {
    if (error instanceof UnreadableEvent) return error
    throw error
  }
}
