/**
 * The short transaction in which one row is worked off, with its own time limits, so that a frozen
 * or blocked worker can't hide a row for long. The limits are set inside the transaction and so
 * hold behind a transaction-pooling proxy too.
 */

import { sql, type Kysely, type Transaction } from 'kysely'
import type { Database } from './schema.js'

/** Milliseconds. */
export const rowLimits = {
  /** A row's statements touch a handful of rows; one that waits longer than this meets contention. */
  lock: 5_000,
  /** Above the lock's; below the shutdown's grace of 20 s, so that a stop never waits for more. */
  statement: 15_000,
  /** A worker frozen between two statements holds its row this long, then the server lets it go. */
  idleInTransaction: 30_000,
}

/** Runs `work` in a transaction of its own: committed when it returns, rolled back when it throws. */
export async function inRowTransaction<T>(
  db: Kysely<Database>,
  work: (trx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  let failed: { error: unknown } | undefined
  try {
    return await db.transaction().execute(async (trx) => {
      await sql`
        select set_config('lock_timeout', ${String(rowLimits.lock)}, true),
          set_config('statement_timeout', ${String(rowLimits.statement)}, true),
          set_config('idle_in_transaction_session_timeout',
            ${String(rowLimits.idleInTransaction)}, true)
      `.execute(trx)
      try {
        return await work(trx)
      } catch (error) {
        failed = { error }
        throw error
      }
    })
  } catch (error) {
    // On a dead connection the rollback fails too, and would hide what ended the work.
    throw failed === undefined ? error : failed.error
  }
}
