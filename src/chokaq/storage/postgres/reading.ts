/** Lists, single jobs and counts, from PostgreSQL. */

import { sql } from 'kysely'
import type { JobRecord } from '../../jobs/job.js'
import { storableText } from '../../jobs/storable-text.js'
import type { Place } from '../../kernel/job-state.js'
import { checkQuery } from '../check-query.js'
import type { JobFilter, JobQuery } from '../job-filter.js'
import { decodeCursor, encodeCursor } from '../list-cursor.js'
import type { JobPage, MetricBucket, Totals } from '../reading-port.js'
import type { Executor } from './connections.js'
import { conditions, tableOf } from './filter-conditions.js'
import { columnsOf, toRecord, type RecordRow } from './records.js'

export async function findJob(db: Executor, id: string): Promise<JobRecord | undefined> {
  // Live first: a job that moves on between two looks is then found in the next.
  for (const place of ['hot', 'archive', 'dlq', 'hot'] as const) {
    const { rows } = await sql<RecordRow>`
      select ${columnsOf[place]} from ${tableOf[place]} where id = ${storableText(id)}
    `.execute(db)
    const [row] = rows
    if (row !== undefined) return toRecord(row)
  }
  return undefined
}

export async function listJobs(db: Executor, query: JobQuery): Promise<JobPage> {
  checkQuery(query)
  const { place, filter = {}, limit, cursor } = query
  const hasFinished = place !== 'hot'
  const order = hasFinished ? sql`finished_at desc, id desc` : sql`id desc`
  const { rows } = await sql<RecordRow>`
    select ${columnsOf[place]} from ${tableOf[place]}
    where ${conditions(place, filter)} and ${beyond(cursor, hasFinished)}
    order by ${order} limit ${limit + 1}
  `.execute(db)
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const finishedAt = hasFinished ? last?.finished_us : undefined
  return {
    items: page.map(toRecord),
    nextCursor: last === undefined ? undefined : encodeCursor({ id: last.id, finishedAt }),
  }
}

function beyond(cursor: string | undefined, hasFinished: boolean) {
  if (cursor === undefined) return sql`true`
  const { id, finishedAt } = decodeCursor(cursor, hasFinished)
  if (!hasFinished) return sql`id < ${id}`
  return sql`(finished_at, id) <
    ('epoch'::timestamptz + ${finishedAt}::float8 * interval '1 microsecond', ${id})`
}

export async function matchingIds(
  db: Executor,
  place: Place,
  filter: JobFilter,
  range: { readonly limit: number; readonly after: string },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${tableOf[place]} where ${conditions(place, filter)} and id > ${range.after}
    order by id limit ${range.limit}
  `.execute(db)
  return rows.map(({ id }) => id)
}

export async function countMatching(
  db: Executor,
  place: Place,
  filter: JobFilter,
): Promise<number> {
  const { rows } = await sql<{ matched: string }>`
    select count(*) as matched from ${tableOf[place]} where ${conditions(place, filter)}
  `.execute(db)
  return Number(rows[0]?.matched ?? 0)
}

export async function findSucceeded(
  db: Executor,
  type: string,
  idempotencyKey: string,
): Promise<{ readonly id: string } | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from chokaq.jobs_archive
    where type = ${storableText(type)} and idempotency_key = ${storableText(idempotencyKey)}
    order by finished_at desc limit 1
  `.execute(db)
  return rows[0]
}

export async function totals(db: Executor): Promise<readonly Totals[]> {
  const { rows } = await sql<Totals>`
    select queue, sum(succeeded)::float8 as succeeded, sum(failed)::float8 as failed,
      sum(retried)::float8 as retried
    from (
      select queue, succeeded, failed, retried from chokaq.stats_summary
      union all select queue, succeeded, failed, retried from chokaq.metric_buckets
    ) parts
    group by queue order by queue
  `.execute(db)
  return rows
}

export async function metricBuckets(
  db: Executor,
  windowMs: number,
  stepMs = 1_000,
): Promise<readonly MetricBucket[]> {
  const step = sql`${stepMs}::float8`
  const { rows } = await sql<MetricBucket>`
    select floor(extract(epoch from second)::float8 * 1000 / ${step}) * ${step} as "atMs", queue,
      sum(succeeded)::integer as succeeded, sum(failed)::integer as failed,
      sum(retried)::integer as retried, sum(duration_ms) as "durationMs"
    from chokaq.metric_buckets
    where second >= statement_timestamp() - ${windowMs}::float8 * interval '1 millisecond'
    group by 1, queue order by 1, queue
  `.execute(db)
  return rows
}

export async function now(db: Executor): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now
  `.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the database did not tell the time')
  return row.now
}
