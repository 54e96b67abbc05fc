/** Deletes what is old in small batches, and folds old metric buckets into the totals. */

import { sql } from 'kysely'
import { checkLimit } from '../check-fetch.js'
import type { MaintenancePort } from '../maintenance-port.js'
import type { Executor } from './connections.js'

/**
 * The time is the statement's, which an index can be searched by; clock_timestamp() can't.
 *
 * Passes at once skip what another has locked: they share the work instead of waiting for each other.
 */
export async function prune(
  db: Executor,
  request: Parameters<MaintenancePort['prune']>[0],
): Promise<number> {
  checkLimit(request.limit)
  const table = sql.table(request.place === 'archive' ? 'chokaq.jobs_archive' : 'chokaq.jobs_dlq')
  const result = await sql`
    with old as materialized (
      select id from ${table}
      where finished_at < statement_timestamp() - ${request.olderThanMs}::float8 * interval '1 millisecond'
      order by finished_at, id limit ${request.limit}
      for update skip locked
    )
    delete from ${table} t where t.id = any (array(select id from old))
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/**
 * One statement, so that totals and buckets always add up to the same for a reader. Buckets are deleted
 * by where they lie: one that has moved since, because something was still counted in it, is for later.
 */
export async function foldMetrics(
  db: Executor,
  request: Parameters<MaintenancePort['foldMetrics']>[0],
): Promise<number> {
  checkLimit(request.limit)
  const { rows } = await sql<{ folded: number }>`
    with old as materialized (
      select ctid from chokaq.metric_buckets
      where second < statement_timestamp() - ${request.olderThanMs}::float8 * interval '1 millisecond'
      order by second, queue, lane limit ${request.limit}
      for update skip locked
    ),
    gone as (
      delete from chokaq.metric_buckets b where b.ctid = any (array(select ctid from old))
      returning b.queue, b.succeeded, b.failed, b.retried
    ),
    folded as (
      insert into chokaq.stats_summary as s (queue, succeeded, failed, retried)
      select queue, sum(succeeded), sum(failed), sum(retried) from gone group by queue order by queue
      on conflict (queue) do update set
        succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
        retried = s.retried + excluded.retried, updated_at = clock_timestamp()
    )
    select count(*)::integer as folded from gone
  `.execute(db)
  return rows[0]?.folded ?? 0
}
