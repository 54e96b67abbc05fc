/** Retention looks at what it deletes, not at what it keeps, however much that is. */

import type { Transaction } from 'kysely'
import { expect, test } from 'vitest'
import { foldMetrics, prune } from '../../../../src/chokaq/storage/postgres/retention.js'
import type { Database } from '../../../../src/postgres/schema.js'
import { usePostgresStorage, workOn } from './storages.js'

const postgres = usePostgresStorage()

async function readBy(
  table: string,
  pass: (trx: Transaction<Database>) => Promise<number>,
): Promise<{ deleted: number; read: number }> {
  return postgres()
    .db.transaction()
    .execute(async (trx) => {
      const { result, read } = await workOn(trx, table, () => pass(trx))
      return { deleted: result, read }
    })
}

test.each(['archive', 'dlq'] as const)('of the %s', async (place) => {
  const own = place === 'archive' ? `3, 'w', 1, now(), 1` : `4, 'w', 1, now(), 1, 'Timeout', 'x'`
  const columns = place === 'archive' ? '' : ', reason, details'
  await postgres().database.query(`
    insert into chokaq.jobs_${place} (id, queue, type, payload, priority, attempts, tags, created_at,
      finished_at, state, owner, token, started_at, duration_ms${columns})
    select lpad(n::text, 26, '0'), 'q', 't', '1', 1, 1, '{}', now(),
      now() - case when n <= 10 then interval '1 day' else interval '1 second' end, ${own}
    from generate_series(1, 10000) n`)
  const pass = (trx: Transaction<Database>) =>
    prune(trx, { place, olderThanMs: 3_600_000, limit: 100 })
  const first = await readBy(`jobs_${place}`, pass)
  expect(first.deleted).toBe(10)
  expect(first.read).toBeLessThan(100)
  const second = await readBy(`jobs_${place}`, pass)
  expect(second.deleted).toBe(0)
  expect(second.read).toBeLessThan(100)
})

test('of metric buckets', async () => {
  await postgres().database.query(`
    insert into chokaq.metric_buckets (second, queue, lane, succeeded)
    select now() - n * interval '1 second' - case when n > 9990 then interval '1 day' else '0' end,
      'q', 0, 1
    from generate_series(1, 10000) n`)
  const fold = (trx: Transaction<Database>) =>
    foldMetrics(trx, { olderThanMs: 50_000_000, limit: 100 })
  const { deleted, read } = await readBy('metric_buckets', fold)
  expect(deleted).toBe(10)
  expect(read).toBeLessThan(100)
})
