/**
 * The record of cycles in chat_provision_runs, and what it tells of the ones before: a run that was
 * never closed, while this process holds the run lock, means that its worker died in the middle.
 */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'

export interface RunCounts {
  readonly claimed: number
  readonly provisioned: number
  readonly retried: number
  /** Rows that became poison. */
  readonly failed: number
  readonly skipped: number
}

export type RunOutcome = 'completed' | 'aborted' | 'stopped'

export interface RunLedger {
  /** Opens this run's record; true if a run of another process had died without closing its own. */
  open(jobRunId: string, asOf: string): Promise<boolean>
  close(
    jobRunId: string,
    outcome: RunOutcome,
    reason: string | null,
    counts: RunCounts,
  ): Promise<void>
}

/** @param host names this process in the record. */
export function createRunLedger(db: Kysely<Database>, host: string): RunLedger {
  // Runs of this process whose closing failed with the database: unfinished, but nobody died.
  const unclosed = new Set<string>()

  return {
    async open(jobRunId, asOf) {
      const died = await closeOpenRuns(db, unclosed)
      unclosed.clear()
      await db
        .insertInto('messenger.chat_provision_runs')
        .values({ id: jobRunId, as_of: asOf, host })
        .execute()
      unclosed.add(jobRunId)
      return died
    },

    async close(jobRunId, outcome, reason, counts) {
      await sql`
        update messenger.chat_provision_runs
        set finished_at = clock_timestamp(), outcome = ${outcome}, reason = ${reason},
          claimed = ${counts.claimed}, provisioned = ${counts.provisioned},
          retried = ${counts.retried}, failed = ${counts.failed}, skipped = ${counts.skipped}
        where id = ${jobRunId} and finished_at is null
      `.execute(db)
      unclosed.delete(jobRunId)
    },
  }
}

async function closeOpenRuns(db: Kysely<Database>, own: ReadonlySet<string>): Promise<boolean> {
  const { rows } = await sql<{ own: boolean }>`
    update messenger.chat_provision_runs
    set finished_at = clock_timestamp(), outcome = 'aborted',
      reason = case when id = any(${[...own]}::uuid[])
        then 'the database was lost' else 'the worker died' end
    where finished_at is null
    returning id = any(${[...own]}::uuid[]) as own
  `.execute(db)
  return rows.some((row) => !row.own)
}

/** Deletes records of runs that started longer ago than the retention; gives how many. */
export async function pruneRuns(db: Kysely<Database>, retentionMs: number): Promise<number> {
  const result = await sql`
    delete from messenger.chat_provision_runs
    where started_at < clock_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'
      and finished_at is not null
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}
