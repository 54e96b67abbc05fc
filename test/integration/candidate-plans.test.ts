/** C2: what reading candidates and the gauges cost the database, whatever lies around and its statistics say. */

import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  readAsOf,
  readDueCandidates,
  readDueLevels,
  readExhaustedCandidates,
  type Candidate,
  type DueAt,
} from '../../src/provisioning/candidates.js'
import { loadConfig } from '../../src/config/load-config.js'
import { readProvisionValues } from '../../src/telemetry/database-values.js'
import { explain, type StatementPlan } from '../support/statement-plan.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const maxAttempts = 10
const batch = 100
/** Each candidate may lie on a page of its own; a look-up walks a few of the index, per attempts value. */
const pagesOfBatch = 2 * batch + 200

async function dueAt(): Promise<DueAt> {
  const asOf = await readAsOf(database().admin)
  return { asOf, stuckProvisioningAfterMs: 300_000, maxAttempts }
}

interface Crowd {
  readonly status: 'Ready' | 'Failed' | 'Provisioning'
  readonly count: number
  /** SQL over the row's number `n`. */
  readonly attempts?: string
  /** PostgreSQL interval from now to when they are due. */
  readonly dueIn?: string
}

async function crowd({ status, count, attempts = '0', dueIn = '-1 hour' }: Crowd): Promise<void> {
  await database().query(
    `insert into messenger.deal_chat_provisions
       (id, deal_id, chat_id, title, status, attempts, next_attempt_at, created_at, updated_at)
     select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Deal ' || n, '${status}',
       ${attempts}, now() + '${dueIn}'::interval + n * interval '1 microsecond',
       now() - interval '1 day', now() - interval '1 day'
     from generate_series(1, ${count}) n`,
  )
}

/** What a cycle's first read costs, or one after a row in its middle: the levels' look-ups in it. */
const explainDue = async (after?: Candidate): Promise<Pick<StatementPlan, 'pages'>> => {
  const at = await dueAt()
  const levels = await readDueLevels(database().admin, at)
  const due = await explain(database(), (db) => readDueCandidates(db, at, levels, after, batch))
  const found = await explain(database(), (db) => readDueLevels(db, at))
  return { pages: due.pages + found.pages }
}

beforeEach(async () => {
  await database().query('truncate messenger.deal_chat_provisions cascade')
  await database().query(
    'alter table messenger.deal_chat_provisions set (autovacuum_enabled = off)',
  )
})

describe('reading the next candidates costs the batch alone', () => {
  const aroundIt: readonly [string, Crowd][] = [
    ['Ready rows', { status: 'Ready', count: 100_000, attempts: '1' }],
    ['poison', { status: 'Failed', count: 100_000, attempts: String(maxAttempts) }],
    [
      'rows of the future',
      { status: 'Failed', count: 100_000, attempts: `n % ${maxAttempts}`, dueIn: '1 hour' },
    ],
    [
      'stuck rows without attempts',
      { status: 'Provisioning', count: 100_000, attempts: String(maxAttempts) },
    ],
  ]

  test.each(aroundIt)('behind 100,000 %s', async (_, around) => {
    await crowd(around)
    await crowd({ status: 'Failed', count: 1_000, attempts: `n % ${maxAttempts}` })
    const before = await explainDue()
    await database().query('vacuum analyze messenger.deal_chat_provisions')
    const after = await explainDue()
    expect(before.pages).toBeLessThan(pagesOfBatch)
    expect(after.pages).toBeLessThan(pagesOfBatch)
  })

  test('in a backlog of 100,000, in its middle as at its beginning', async () => {
    await crowd({ status: 'Failed', count: 100_000, attempts: `n % ${maxAttempts}` })
    expect((await explainDue()).pages).toBeLessThan(pagesOfBatch)
    const [middle] = await database().query<Candidate>(
      `select id, next_attempt_at::text as "nextAttemptAt" from messenger.deal_chat_provisions
       order by next_attempt_at offset 50000 limit 1`,
    )
    expect((await explainDue(middle)).pages).toBeLessThan(pagesOfBatch)
  })

  test('with statistics of an empty table', async () => {
    await database().query('analyze messenger.deal_chat_provisions')
    await crowd({ status: 'Ready', count: 50_000, attempts: '1' })
    await crowd({ status: 'Failed', count: 50_000, attempts: String(maxAttempts) })
    await crowd({ status: 'Failed', count: 1_000 })
    expect((await explainDue()).pages).toBeLessThan(pagesOfBatch)
  })
})

test('what a cycle has worked off is not passed over again, though a snapshot keeps it', async () => {
  await crowd({ status: 'Failed', count: 5_000 })
  // In another order than they lie in, as after backoffs: each that is passed over costs a page.
  await database().query(
    `update messenger.deal_chat_provisions set next_attempt_at = now() - random() * interval '1 hour'`,
  )
  await database().query('vacuum analyze messenger.deal_chat_provisions')
  const at = await dueAt()
  const levels = await readDueLevels(database().admin, at)
  const [last] = await database().query<Candidate>(
    `select id, next_attempt_at::text as "nextAttemptAt" from messenger.deal_chat_provisions
     order by next_attempt_at, id offset 3999 limit 1`,
  )
  const report = new pg.Client({ connectionString: database().adminUrl })
  await report.connect()
  try {
    await report.query('begin isolation level repeatable read')
    await report.query('select count(*) from messenger.deal_chat_provisions')
    await database().query(
      `update messenger.deal_chat_provisions set status = 'Ready'
       where next_attempt_at <= (select next_attempt_at from messenger.deal_chat_provisions where id = $1)`,
      [last?.id],
    )
    const next = await explain(database(), (db) => readDueCandidates(db, at, levels, last, batch))
    expect(next.pages).toBeLessThan(pagesOfBatch)
  } finally {
    await report.end()
  }
})

test('reading what hangs without attempts costs the batch alone', async () => {
  await crowd({ status: 'Ready', count: 100_000, attempts: '1' })
  await crowd({ status: 'Failed', count: 50_000, attempts: String(maxAttempts) })
  await crowd({ status: 'Provisioning', count: 1_000, attempts: String(maxAttempts) })
  const at = await dueAt()
  const plan = await explain(database(), (db) => readExhaustedCandidates(db, at, undefined, batch))
  expect(plan.pages).toBeLessThan(pagesOfBatch)
})

describe('a look for the gauges', () => {
  const { retry } = loadConfig({}, { database: false, kafka: false, http: false })
  const pagesOfGauges = async (): Promise<number> =>
    (await explain(database(), (db) => readProvisionValues(db, retry))).pages

  /** As `limitLook` has it for its transaction, which is more than one statement. */
  const forbidSequentialScans = (setting: 'off' | 'default'): Promise<unknown> =>
    database().query(`alter database ${database().name} set enable_seqscan to ${setting}`)
  afterEach(() => forbidSequentialScans('default'))

  test('does not read Ready rows, though statistics tell of open ones alone', async () => {
    await crowd({ status: 'Failed', count: 10_000 })
    await database().query('analyze messenger.deal_chat_provisions')
    await database().query('truncate messenger.deal_chat_provisions cascade')
    await forbidSequentialScans('off')
    await crowd({ status: 'Ready', count: 100_000, attempts: '1' })
    await crowd({ status: 'Failed', count: 100 })
    const before = await pagesOfGauges()
    await database().query('vacuum analyze messenger.deal_chat_provisions')
    expect(before).toBeLessThan(pagesOfBatch)
    expect(await pagesOfGauges()).toBeLessThan(pagesOfBatch)
  })
})

describe('the order', () => {
  test('is by the time they are due, then by id, whatever attempts and status', async () => {
    await crowd({ status: 'Failed', count: 150, attempts: 'n % 7' })
    await crowd({ status: 'Provisioning', count: 150, attempts: 'n % 3' })
    const at = await dueAt()
    const levels = await readDueLevels(database().admin, at)
    const read: Candidate[] = []
    for (let last: Candidate | undefined; ;) {
      const next = await readDueCandidates(database().admin, at, levels, last, 37)
      if (next.length === 0) break
      read.push(...next)
      last = next.at(-1)
    }
    const expected = await database().query<{ id: string }>(
      'select id from messenger.deal_chat_provisions order by next_attempt_at, id',
    )
    expect(read.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  })

  test('of what hangs without attempts leaves none out and gives none twice', async () => {
    await crowd({ status: 'Provisioning', count: 150, attempts: `${maxAttempts} + n % 3` })
    const at = await dueAt()
    const read: Candidate[] = []
    for (let last: Candidate | undefined; ;) {
      const next = await readExhaustedCandidates(database().admin, at, last, 37)
      if (next.length === 0) break
      read.push(...next)
      last = next.at(-1)
    }
    expect(new Set(read.map(({ id }) => id)).size).toBe(150)
    expect(read).toHaveLength(150)
  })
})
