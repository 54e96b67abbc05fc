/** What else happens to the outbox: an operator's replay and skip, retention, and its plans. */

import { randomUUID } from 'node:crypto'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { selectDueEvents } from '../../../src/outbox/due-events.js'
import { replayEvent, skipEvent } from '../../../src/outbox/operator-actions.js'
import { deleteSettledEvents, retentionBatchRows } from '../../../src/outbox/retention.js'
import type { Database } from '../../../src/postgres/schema.js'
import { useTestDatabase } from '../../support/test-database.js'
import { appendEvent, outboxState } from './relay-fixtures.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const sevenDaysMs = 7 * 86_400_000

beforeEach(async () => {
  await database().query('truncate messenger.outbox_events')
})

describe('an operator', () => {
  const replay = (id: string): ReturnType<typeof replayEvent> =>
    database()
      .admin.transaction()
      .execute((trx) => replayEvent(trx, id))
  const skip = (id: string): ReturnType<typeof skipEvent> =>
    database()
      .admin.transaction()
      .execute((trx) => skipEvent(trx, id))
  const set = (id: string, assignment: string): Promise<unknown> =>
    database().query(`update messenger.outbox_events set ${assignment} where id = $1`, [id])

  test('replays a parked event, with all its attempts', async () => {
    const { id, dealId } = await appendEvent(database(), { topic })
    await set(id, 'parked_at = now(), attempts = 10')
    expect(await replay(id)).toEqual({ done: true, dealId })
    expect(await outboxState(database(), id)).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('is refused the replay of what is superseded, or would be at once', async () => {
    const { id, dealId } = await appendEvent(database(), { topic })
    await set(id, 'parked_at = now()')
    await appendEvent(database(), { topic, dealId })
    const refused = { done: false, reason: 'wrong state', state: 'superseded' }
    expect(await replay(id)).toEqual(refused)
    await set(id, 'superseded_at = now()')
    expect(await replay(id)).toEqual(refused)
  })

  test('skips what has not gone out, and nothing else', async () => {
    const { id, dealId } = await appendEvent(database(), { topic })
    expect(await skip(id)).toEqual({ done: true, dealId })
    expect(await skip(id)).toEqual({ done: false, reason: 'wrong state', state: 'skipped' })
    expect(await replay(id)).toEqual({ done: false, reason: 'wrong state', state: 'skipped' })
    const sent = await appendEvent(database(), { topic })
    await set(sent.id, 'published_at = now()')
    expect(await skip(sent.id)).toEqual({ done: false, reason: 'wrong state', state: 'published' })
    expect(await skip(randomUUID())).toEqual({ done: false, reason: 'not found' })
  })
})

let inserted = 0

/** Events in bulk, with these settled columns. Ids that rise go in far faster than random ones. */
function insertMany(count: number, columns: string, values: string): Promise<unknown> {
  const from = inserted + 1
  inserted += count
  return database().query(
    `insert into messenger.outbox_events
       (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, ${columns})
     select lpad(to_hex(n), 32, '0')::uuid, 'DealChatProvision', lpad(to_hex(n), 32, '0')::uuid,
       'DealChatStatusChanged', $1, 1, '{}', ${values}
     from generate_series(${from}, ${inserted}) n`,
    [topic],
  )
}

const countLeft = async (): Promise<number> => {
  const [row] = await database().query<{ n: number }>(
    'select count(*)::int as n from messenger.outbox_events',
  )
  return Number(row?.n)
}

describe('retention', () => {
  test('deletes what was settled long ago, in batches, and nothing that still waits', async () => {
    const old = `now() - interval '8 days'`
    await insertMany(retentionBatchRows, 'published_at', old)
    await insertMany(5, 'superseded_at', old)
    await insertMany(5, 'skipped_at', old)
    await insertMany(3, 'occurred_at', old)
    await insertMany(3, 'parked_at', old)
    await insertMany(3, 'published_at', `now() - interval '6 days'`)
    const prune = (): Promise<number> => deleteSettledEvents(database().admin, sevenDaysMs)
    expect([await prune(), await prune(), await prune()]).toEqual([retentionBatchRows, 10, 0])
    expect(await countLeft()).toBe(9)
  })

  test('C4: several instances at once neither wait for each other nor deadlock', async () => {
    await insertMany(4 * retentionBatchRows, 'published_at', `now() - interval '8 days'`)
    const deleted = await Promise.all(
      Array.from({ length: 4 }, () => deleteSettledEvents(database().admin, sevenDaysMs)),
    )
    expect(deleted.reduce((sum, n) => sum + n)).toBe(4 * retentionBatchRows - (await countLeft()))
  })
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

/** Explains, with the run's own numbers, the statement that `run` sends. */
async function explain(run: (db: Kysely<Database>) => Promise<unknown>): Promise<Plan> {
  const sent: { sql: string; parameters: readonly unknown[] }[] = []
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database().adminUrl }) }),
    log: ({ query }) => {
      sent.push(query)
    },
  })
  await run(db)
  await db.destroy()
  const [statement] = sent
  if (statement === undefined) throw new Error('no statement was sent')
  const [row] = await database().query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${statement.sql}`,
    [...statement.parameters],
  )
  const plan = row?.['QUERY PLAN'][0].Plan
  if (plan === undefined) throw new Error('no plan came back')
  return plan
}

function indexesOf(plan: Plan): string[] {
  const own = plan['Index Name'] === undefined ? [] : [plan['Index Name']]
  return [...own, ...(plan.Plans ?? []).flatMap(indexesOf)]
}

test('C3: behind a million published rows a poll reads a few pages of the partial index', async () => {
  await insertMany(1_000_000, 'published_at', 'now()')
  await insertMany(10_000, 'parked_at', 'now()')
  for (let n = 0; n < 20; n += 1) await appendEvent(database(), { topic })
  await database().query('vacuum analyze messenger.outbox_events')
  const poll = await explain((db) => selectDueEvents(db, { limit: 500, exceptTopics: [] }))
  expect(indexesOf(poll)).toContain('ix_outbox_pending')
  expect(poll['Shared Hit Blocks'] + poll['Shared Read Blocks']).toBeLessThan(200)
  const prune = await explain((db) => deleteSettledEvents(db, sevenDaysMs))
  expect(indexesOf(prune)).toContain('ix_outbox_finished')
  expect(prune['Shared Hit Blocks'] + prune['Shared Read Blocks']).toBeLessThan(200)
}, 240_000)
