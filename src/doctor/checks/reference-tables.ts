/**
 * Do the messenger's own tables have what this service reads and writes? They may carry more: a column
 * that must be filled and isn't by us would make every row fail, and a unique index that lacks too.
 */

import type { Transaction } from 'kysely'
import { forcedColumns, missingColumns, missingUniques } from '../../postgres/reference-layout.js'
import { checkReferenceTables as requireTables } from '../../postgres/schema-check.js'
import type { Database } from '../../postgres/schema.js'
import { failed, worstOf, type Verdict } from '../finding.js'

export async function checkReferenceTables(trx: Transaction<Database>): Promise<Verdict> {
  await requireTables(trx)
  const troubles = [
    ...(await missingColumns(trx)),
    ...(await forcedColumns(trx)),
    ...(await missingUniques(trx)),
  ]
  return worstOf(
    troubles.map(({ found, mend }) => failed(found, mend)),
    'chats, participants and chat_events as they are needed',
  )
}
