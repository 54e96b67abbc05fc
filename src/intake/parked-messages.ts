/** Sets aside a message that can't be read, whole, for a person to look at. */

import type { Kysely } from 'kysely'
import { uuidv7 } from '../uuid.js'
import type { Database } from '../postgres/schema.js'
import type { IntakeMessage } from './intake-message.js'

/** Idempotent by the message's place. False where it was parked already: it has come again. */
export async function parkMessage(
  db: Kysely<Database>,
  message: IntakeMessage,
  reason: string,
): Promise<boolean> {
  const { topic, partition, offset, key, value } = message
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('messenger.intake_parked')
    .values({ id: uuidv7(), topic, partition, offset, key, value, error: reason })
    .onConflict((conflict) => conflict.columns(['topic', 'partition', 'offset']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}
