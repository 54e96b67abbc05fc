/**
 * What was done and what failed over time, in columns as a chart takes them. Each series is read from
 * the end of an index and summed by the database, so its cost follows the window and not the tables.
 */

import { sql, type Kysely } from 'kysely'
import type { JobStorage } from '../chokaq/index.js'
import type { OutboxOptions } from '../config/config.js'
import type { Database } from '../postgres/schema.js'

/**
 * How far back, and in how wide steps: some 60 to 100 points, as many as a chart of a phone has room
 * for. A day at most, for which the retry core keeps its buckets too.
 */
const windows = {
  '15m': { windowSeconds: 900, bucketSeconds: 15 },
  '1h': { windowSeconds: 3_600, bucketSeconds: 60 },
  '6h': { windowSeconds: 21_600, bucketSeconds: 300 },
  '24h': { windowSeconds: 86_400, bucketSeconds: 900 },
} as const

export type SeriesWindow = keyof typeof windows
export const seriesWindows = Object.keys(windows) as [SeriesWindow, ...SeriesWindow[]]

/** One number for each bucket; the last bucket is still being filled. */
type Column = readonly number[]

export interface ThroughputSeries {
  readonly window: SeriesWindow
  readonly bucketSeconds: number
  /** Where each bucket begins, seconds since 1970 by the database's clock; oldest first. */
  readonly at: Column
  /** Of the cycles that began in the bucket; one that is under way counts when it has ended. */
  readonly provisions: {
    readonly provisioned: Column
    readonly retried: Column
    /** Rows that became poison. */
    readonly failed: Column
    readonly cycles: Column
    /** Cycles that ended early, by the database's loss or the worker's death. */
    readonly aborted: Column
  }
  /** Events that went out; null where Debezium relays, for then no row says so. */
  readonly published: Column | null
  /** Durable jobs, of all queues: ended well, ended dead, and runs that are to be repeated. */
  readonly jobs: { readonly succeeded: Column; readonly failed: Column; readonly retried: Column }
}

interface Bucket {
  /** Its place, 0 is the oldest. */
  readonly i: number
}

interface CycleBucket extends Bucket {
  readonly provisioned: number
  readonly retried: number
  readonly failed: number
  readonly cycles: number
  readonly aborted: number
}

interface SeriesRow {
  readonly since: number
  readonly cycles: readonly CycleBucket[]
  readonly published: readonly (Bucket & { readonly events: number })[] | null
}

/** @throws what the database throws */
export async function readThroughputSeries(
  db: Kysely<Database>,
  storage: Pick<JobStorage, 'metricBuckets'>,
  { window, relay }: { readonly window: SeriesWindow; readonly relay: OutboxOptions['relay'] },
): Promise<ThroughputSeries> {
  const { windowSeconds, bucketSeconds } = windows[window]
  const count = windowSeconds / bucketSeconds
  const { since, cycles, published } = await readSeries(db, { bucketSeconds, count, relay })
  const at = Array.from({ length: count }, (_, i) => since + i * bucketSeconds)
  const column = <T extends Bucket>(buckets: readonly T[], of: (bucket: T) => number): Column => {
    const sums = at.map(() => 0)
    // What has committed since this moment was read belongs to a bucket that is not shown yet.
    for (const bucket of buckets)
      if (bucket.i in sums) sums[bucket.i] = (sums[bucket.i] ?? 0) + of(bucket)
    return sums
  }
  const ended = await storage.metricBuckets(windowSeconds * 1_000, bucketSeconds * 1_000)
  const jobs = ended.map((bucket) => ({
    ...bucket,
    i: Math.round((bucket.atMs / 1_000 - since) / bucketSeconds),
  }))
  return {
    window,
    bucketSeconds,
    at,
    provisions: {
      provisioned: column(cycles, ({ provisioned }) => provisioned),
      retried: column(cycles, ({ retried }) => retried),
      failed: column(cycles, ({ failed }) => failed),
      cycles: column(cycles, (bucket) => bucket.cycles),
      aborted: column(cycles, ({ aborted }) => aborted),
    },
    published: published && column(published, ({ events }) => events),
    jobs: {
      succeeded: column(jobs, ({ succeeded }) => succeeded),
      failed: column(jobs, ({ failed }) => failed),
      retried: column(jobs, ({ retried }) => retried),
    },
  }
}

/** By ix_chat_provision_runs_started and ix_outbox_finished, each from its end. */
async function readSeries(
  db: Kysely<Database>,
  options: {
    readonly bucketSeconds: number
    readonly count: number
    readonly relay: OutboxOptions['relay']
  },
): Promise<SeriesRow> {
  const { bucketSeconds, count, relay } = options
  const width = sql`${bucketSeconds}::float8`
  // An expression that the planner can reckon out, so that it knows how little is asked for.
  const since = sql`(floor(extract(epoch from statement_timestamp())::float8 / ${width})
    - ${count - 1}::float8) * ${width}`
  const bucketOf = (time: string) =>
    sql`floor((extract(epoch from ${sql.ref(time)})::float8 - ${since}) / ${width})::int`
  const settled = sql`coalesce(published_at, superseded_at, skipped_at)`
  const published =
    relay === 'off'
      ? sql`null::json`
      : sql`(select coalesce(json_agg(b), '[]') from (
          select ${bucketOf('published_at')} as i, count(*) as events
          from messenger.outbox_events
          where ${settled} >= to_timestamp(${since}) and published_at is not null
          group by 1) b)`
  const { rows } = await sql<SeriesRow>`
    select ${since} as since,
      (select coalesce(json_agg(b), '[]') from (
        select ${bucketOf('started_at')} as i, count(*) as cycles,
          count(*) filter (where outcome = 'aborted') as aborted,
          sum(provisioned) as provisioned, sum(retried) as retried, sum(failed) as failed
        from messenger.chat_provision_runs
        where started_at >= to_timestamp(${since}) and isfinite(started_at)
        group by 1) b) as cycles,
      ${published} as published
  `.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the statement gave no row')
  return row
}
