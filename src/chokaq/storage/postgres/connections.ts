/** What the PostgreSQL storage needs of kysely: any database type's will do, for it brings its own SQL. */

import type { QueryExecutorProvider } from 'kysely'

/** A kysely instance, or a transaction of one. */
export type Executor = QueryExecutorProvider

/** A kysely instance, not a transaction: it commits each statement by itself. */
export interface Connections extends Executor {
  transaction(): {
    setIsolationLevel(level: 'read committed'): Begin
  } & Begin
}

interface Begin {
  execute<T>(work: (trx: Executor) => Promise<T>): Promise<T>
}

/** An open kysely transaction of the caller's, on the same database. */
export interface CallersTransaction extends Executor {
  readonly isTransaction: true
}
