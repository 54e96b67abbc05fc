/** Can a row be worked at all? Asked before each cycle and by /readyz, so that the two can't differ. */

import type { Kysely } from 'kysely'
import { checkReferenceLayout } from './reference-layout.js'
import { checkRowRights } from './rights-check.js'
import { checkSchema } from './schema-check.js'
import type { Database } from './schema.js'

/** @throws AppError of checkSchema, NOT_PERMITTED or REFERENCE_TABLE_UNFIT; each message says what mends it */
export async function checkRowWork(db: Kysely<Database>): Promise<void> {
  await checkSchema(db)
  await checkRowRights(db)
  await checkReferenceLayout(db)
}
