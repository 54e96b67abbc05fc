/** The parts of statements by which a job ends: from the hot table into another, and counted. */

import { sql, type RawBuilder } from 'kysely'

/** What both tables of ended jobs take over from the hot one as it is, beside the attempts. */
const kept = sql.raw(`
  id, queue, type, payload, priority, idempotency_key, tags, owner, token, checkpoint, created_by,
  modified_by, created_at, started_at`)

/** `from` gives the hot row's columns and duration_ms. */
export function archive(from: string): RawBuilder<unknown> {
  return sql`
    insert into chokaq.jobs_archive (${kept}, attempts, duration_ms)
    select ${kept}, attempts, duration_ms from ${sql.table(from)}
    returning id, queue, duration_ms`
}

/**
 * `from` gives the hot row's columns, duration_ms, reason and details.
 *
 * @param attempts the runs begun, of that row
 */
export function bury(from: string, attempts = sql`attempts`): RawBuilder<unknown> {
  return sql`
    insert into chokaq.jobs_dlq (${kept}, attempts, duration_ms, reason, details, state)
    select ${kept}, ${attempts}, duration_ms, reason, details,
      case reason when 'Cancelled' then 5 when 'Zombie' then 6 else 4 end
    from ${sql.table(from)}
    returning id, queue, type, owner`
}

/**
 * Counts what has ended: `ended` gives queue, what ('succeeded', 'failed', 'retried') and duration_ms.
 *
 * The rows of jobs are locked before, always; the buckets after, in order of their queue: so two that
 * count at once can't wait for each other in a circle.
 */
export function count(ended: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into chokaq.metric_buckets as b
      (second, queue, lane, succeeded, failed, retried, duration_ms)
    select date_trunc('second', statement_timestamp()), e.queue, (pg_backend_pid() % 8)::smallint,
      count(*) filter (where e.what = 'succeeded'),
      count(*) filter (where e.what = 'failed'),
      count(*) filter (where e.what = 'retried'),
      coalesce(sum(e.duration_ms) filter (where e.what = 'succeeded'), 0)
    from (${ended}) as e (queue, what, duration_ms)
    group by e.queue order by e.queue
    on conflict (second, queue, lane) do update set
      succeeded = b.succeeded + excluded.succeeded,
      failed = b.failed + excluded.failed,
      retried = b.retried + excluded.retried,
      duration_ms = b.duration_ms + excluded.duration_ms`
}
