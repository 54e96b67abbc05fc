/** Part of a caller's transaction that can fail alone. */

import { sql } from 'kysely'
import type { CallersTransaction } from './connections.js'

export async function inSavepoint<T>(trx: CallersTransaction, work: () => Promise<T>): Promise<T> {
  await sql`savepoint chokaq_move`.execute(trx)
  let result: T
  try {
    result = await work()
  } catch (error) {
    // On a dead connection this fails too, and would hide what ended the work.
    await sql`rollback to savepoint chokaq_move`.execute(trx).catch(() => undefined)
    throw error
  }
  await sql`release savepoint chokaq_move`.execute(trx)
  return result
}
