/** What the charts are drawn from: each thing counted in its bucket, at a cost that the window sets. */

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { createPostgresStorage } from '../../../src/chokaq/index.js'
import {
  readThroughputSeries,
  seriesWindows,
  type SeriesWindow,
  type ThroughputSeries,
} from '../../../src/operations/throughput-series.js'
import { explain } from '../../support/statement-plan.js'
import { useTestDatabase } from '../../support/test-database.js'
import { insertMany } from '../outbox/many-events.js'
import { useOperators } from './operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)

afterEach(async () => {
  await database().query(
    'truncate messenger.chat_provision_runs, messenger.outbox_events, chokaq.metric_buckets',
  )
})

function read(
  window: SeriesWindow = '1h',
  relay: 'kafka' | 'off' = 'kafka',
): Promise<ThroughputSeries> {
  const { db } = newOperator()
  return readThroughputSeries(db, createPostgresStorage({ db }), { window, relay })
}

/** A cycle that began so long ago. */
async function seedRun(
  ago: string,
  counts: Partial<Record<string, number>> = {},
  outcome = 'completed',
) {
  await database().query(
    `insert into messenger.chat_provision_runs
       (id, started_at, finished_at, outcome, as_of, claimed, provisioned, retried, failed, host)
     values ($1, now() - $2::interval, now(), $3, now(), 0, $4, $5, $6, 'here')`,
    [
      ...[randomUUID(), ago, outcome, counts['provisioned'] ?? 0],
      ...[counts['retried'] ?? 0, counts['failed'] ?? 0],
    ],
  )
}

/** What a column has, with how long ago its bucket began, at the most. */
function filled({ at, bucketSeconds }: ThroughputSeries, column: readonly number[]) {
  const end = (at.at(-1) ?? 0) + bucketSeconds
  return column.flatMap((value, i) =>
    value === 0 ? [] : [{ value, bucketsAgo: (end - (at[i] ?? 0)) / bucketSeconds }],
  )
}

const total = (column: readonly number[] | null) => (column ?? []).reduce((a, b) => a + b, 0)

describe('the series', () => {
  it('are as many zeros as there are buckets where nothing happened, up to this moment', async () => {
    for (const window of seriesWindows) {
      const series = await read(window)
      const { at, bucketSeconds, provisions, published, jobs } = series
      const columns = [...Object.values(provisions), published ?? [], ...Object.values(jobs)]
      for (const column of columns) expect(column).toEqual(at.map(() => 0))
      const [row] = await database().query<{ now: number }>(
        'select extract(epoch from clock_timestamp())::float8 as now',
      )
      const last = at.at(-1) ?? 0
      expect(last).toBeLessThanOrEqual(row?.now ?? 0)
      expect(last % bucketSeconds).toBe(0)
      expect(at[1]).toBe((at[0] ?? 0) + bucketSeconds)
      expect(at.length).toBeGreaterThanOrEqual(60)
    }
  })

  it('count cycles by what came of them, each in the bucket of its start', async () => {
    await seedRun('0 s', { provisioned: 3, retried: 2 })
    await seedRun('0 s', { provisioned: 4, failed: 1 })
    await seedRun('30 minutes', { retried: 7 }, 'aborted')
    await seedRun('2 hours', { provisioned: 100 })
    const series = await read()
    const { provisioned, retried, failed, cycles, aborted } = series.provisions
    expect(total(provisioned)).toBe(7)
    expect(total(failed)).toBe(1)
    expect(total(cycles)).toBe(3)
    const [long] = filled(series, retried)
    expect(long?.value).toBe(7)
    expect([30, 31, 32]).toContain(long?.bucketsAgo)
    expect(filled(series, aborted)).toEqual([{ ...long, value: 1 }])
    expect(total((await read('6h')).provisions.provisioned)).toBe(107)
  })

  it('count what is published, and know that Debezium tells nobody', async () => {
    const topic = 't'
    await insertMany(database(), {
      topic,
      count: 20,
      set: { published_at: "now() - interval '20 min'" },
    })
    await insertMany(database(), { topic, count: 5, set: { skipped_at: 'now()' } })
    await insertMany(database(), { topic, count: 3 })
    await insertMany(database(), {
      topic,
      count: 9,
      set: { published_at: "now() - interval '3 h'" },
    })
    const series = await read()
    const [bucket, ...others] = filled(series, series.published ?? [])
    expect(bucket?.value).toBe(20)
    expect(others).toEqual([])
    expect(total((await read('24h')).published)).toBe(29)
    expect((await read('1h', 'off')).published).toBeNull()
  })

  it('count jobs of all queues', async () => {
    await database().query(
      `insert into chokaq.metric_buckets (second, queue, lane, succeeded, failed, retried)
       select date_trunc('second', now() - interval '5 min'), queue, lane, 10, 1, 2
       from unnest(array['a', 'b']) queue, generate_series(0, 2) lane`,
    )
    const { jobs } = await read()
    expect([total(jobs.succeeded), total(jobs.failed), total(jobs.retried)]).toEqual([60, 6, 12])
  })

  it('read by index what the window has, behind 100,000 of each', async () => {
    await insertMany(database(), {
      topic: 't',
      count: 100_000,
      set: { published_at: "now() - interval '3 days'" },
    })
    await database().query(
      `insert into messenger.chat_provision_runs (id, started_at, finished_at, as_of, host)
       select gen_random_uuid(), now() - n * interval '1 min', now(), now(), 'here'
       from generate_series(1, 100000) n`,
    )
    await database().query('vacuum analyze messenger.chat_provision_runs, messenger.outbox_events')
    const storage = { metricBuckets: () => Promise.resolve([]) }
    const plan = await explain(database(), (db) =>
      readThroughputSeries(db, storage, { window: '24h', relay: 'kafka' }),
    )
    expect(plan.indexes).toEqual(
      expect.arrayContaining(['ix_chat_provision_runs_started', 'ix_outbox_finished']),
    )
    expect(plan.pages).toBeLessThan(200)
  }, 120_000)
})
