/** Reads for one request: one snapshot, and the server itself ends what takes too long. */

import { sql, type Kysely, type Transaction } from 'kysely'
import { createPostgresStorage, type JobStorage } from '../../chokaq/index.js'
import type { Database } from '../../postgres/schema.js'

/** Lists take milliseconds; below the request's own time limit, so that its connection is free again. */
const statementTimeoutMs = 5_000

export function readOnly<T>(
  db: Kysely<Database>,
  read: (trx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${String(statementTimeoutMs)}, true)`.execute(
        trx,
      )
      return read(trx)
    })
}

/** The jobs as this transaction sees them. */
export function readJobs<T>(
  db: Kysely<Database>,
  read: (storage: Pick<JobStorage, 'findJob' | 'listJobs' | 'listQueues' | 'totals'>) => Promise<T>,
): Promise<T> {
  return readOnly(db, (trx) => read(createPostgresStorage({ db: trx })))
}
