/** Takes an event's skip back: it waits again, or is parked again, as before. */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import { z } from 'zod'
import { unskipEvent } from '../../outbox/operator-actions.js'
import type { Database } from '../../postgres/schema.js'
import { UndoRefused, type UndoableLine } from './undoable-line.js'

/** Of the event as the skip has left it, in its transaction. */
export function afterSkip(eventId: string): RawBuilder<unknown> {
  return sql`select json_build_object('eventId', e.id, 'skippedAt', e.skipped_at)
    from messenger.outbox_events e where e.id = ${eventId}::uuid`
}

const kept = z.object({ eventId: z.string(), skippedAt: z.string() })

const reasons = {
  pending: 'it waits to be published already',
  parked: 'it is parked already',
  published: 'it was published since',
  superseded: 'its deal has a newer event since, after which it would tell of the past',
  skipped: 'it was skipped anew since',
} as const

/** True where the event may go out now. @throws UndoRefused */
export async function undoSkip(
  trx: Transaction<Database>,
  { before }: UndoableLine,
): Promise<boolean> {
  const { eventId, skippedAt } = kept.parse(before)
  const result = await unskipEvent(trx, eventId, skippedAt)
  if (result.done) return result.isPending
  const why =
    result.reason === 'not found'
      ? 'the event is gone: settled ones are deleted after OUTBOX_RETENTION'
      : reasons[result.state]
  throw new UndoRefused('CHANGED_SINCE', why)
}
