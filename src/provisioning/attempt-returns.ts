/**
 * Gives attempts back that were put on record and never made: the process lives, but the database went
 * away or the host is stopping before the work was done. Only a death may cost such an attempt.
 */

import type { Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { restoreRow, type RowBefore } from './row-writes.js'

/** An attempt that stands in the row already, and the version of the row that says so. */
export interface OnRecord {
  readonly id: string
  readonly xmin: string
  readonly attempts: number
  readonly before: RowBefore
}

export interface AttemptReturns {
  /** Gives it back now, or remembers it where the database is away. Never rejects. */
  giveBack(onRecord: OnRecord): Promise<void>
  /** Gives back what is remembered. */
  settle(): Promise<void>
}

export function createAttemptReturns(db: Kysely<Database>): AttemptReturns {
  const owed = new Map<string, OnRecord>()
  const restore = async (onRecord: OnRecord): Promise<void> => {
    await restoreRow(db, onRecord.id, onRecord.xmin, onRecord.before)
    owed.delete(onRecord.id)
  }
  return {
    async giveBack(onRecord) {
      owed.set(onRecord.id, onRecord)
      await restore(onRecord).catch(() => undefined)
    },
    async settle() {
      for (const onRecord of [...owed.values()]) await restore(onRecord)
    },
  }
}
