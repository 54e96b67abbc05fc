/** What the relay's statements cost the database, whatever the table holds and its statistics say. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { markPublished } from '../../../src/outbox/delivery-record.js'
import { selectDueEvents, supersedeParked } from '../../../src/outbox/due-events.js'
import { takeTurn, type RelayTurn } from '../../../src/outbox/relay-lock.js'
import { deleteSettledEvents } from '../../../src/outbox/retention.js'
import { useTestDatabase } from '../../support/test-database.js'
import { insertMany } from './many-events.js'
import { appendEvent } from './relay-fixtures.js'
import { explain, explainPrepared, type StatementPlan } from '../../support/statement-plan.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const sevenDaysMs = 7 * 86_400_000
const burst = 10_000
const batch = 500
/** The server makes five plans for the values at hand before it keeps one for all. */
const runsUntilKept = 8
/** A look-up walks two or three pages of an index; the batch's own pages come on top. */
const pagesOfBatch = 3 * batch + 200

const analyze = (): Promise<unknown> => database().query('analyze messenger.outbox_events')

const explainPoll = (): Promise<StatementPlan> =>
  explain(database(), (db) => selectDueEvents(db, { limit: batch, exceptTopics: [] }))

/** As an array in SQL: of the oldest batch in which this time is not set. */
async function batchOf(column: 'id' | 'aggregate_id', notYet: string): Promise<string> {
  const [row] = await database().query<{ list: string }>(
    `select array(select ${column} from messenger.outbox_events where ${notYet} is null
       order by seq limit ${batch})::text as list`,
  )
  return `'${String(row?.list)}'`
}

beforeEach(async () => {
  await database().query('truncate messenger.outbox_events')
  // A burst is over before autovacuum has seen it, but a slow test might not be.
  await database().query('alter table messenger.outbox_events set (autovacuum_enabled = off)')
})

describe('a poll of a burst reads its batch and one look-up for each', () => {
  test('without statistics as with them', async () => {
    await insertMany(database(), { topic, count: burst, deals: burst / 4 })
    const before = await explainPoll()
    await analyze()
    const after = await explainPoll()
    expect(before.pages).toBeLessThan(pagesOfBatch)
    expect(after.pages).toBeLessThan(pagesOfBatch)
  })

  test('with statistics of a table that was all but empty', async () => {
    for (let n = 0; n < 5; n += 1) await appendEvent(database(), { topic })
    await analyze()
    await insertMany(database(), { topic, count: burst, deals: burst / 4 })
    expect((await explainPoll()).pages).toBeLessThan(pagesOfBatch)
  })

  test('with statistics from before, when all was published', async () => {
    await insertMany(database(), { topic, count: burst, set: { published_at: 'now()' } })
    await analyze()
    await insertMany(database(), { topic, count: burst, deals: burst / 4 })
    expect((await explainPoll()).pages).toBeLessThan(pagesOfBatch)
  })

  test('where all of it is of one deal', async () => {
    await insertMany(database(), { topic, count: burst, deals: 1 })
    const before = await explainPoll()
    await analyze()
    expect(before.pages).toBeLessThan(pagesOfBatch)
    expect((await explainPoll()).pages).toBeLessThan(pagesOfBatch)
  })
})

describe('what the relay’s session planned while the table was empty', () => {
  let turn: RelayTurn
  beforeEach(async () => {
    const taken = await takeTurn(
      {
        connectionString: database().url,
        applicationName: 'relay under test',
        pollIntervalMs: 1_000,
        sendTimeoutMs: 1_000,
      },
      new AbortController().signal,
      new AbortController().signal,
    )
    if (!('db' in taken)) throw new Error(`the lock is held by ${taken.holder}`)
    turn = taken
    const strangers = Array.from({ length: batch }, () => randomUUID())
    for (let n = 0; n < runsUntilKept; n += 1) {
      const due = await selectDueEvents(turn.db, { limit: batch, exceptTopics: [] })
      expect(due).toEqual([])
      await markPublished(turn.db, strangers)
      await supersedeParked(turn.db, strangers)
      await deleteSettledEvents(turn.db, sevenDaysMs)
    }
  })
  afterEach(() => turn.release())

  test('serves a burst, a batch and one look-up for each', async () => {
    await insertMany(database(), { topic, count: burst, set: { published_at: 'now()' } })
    await insertMany(database(), { topic, count: burst, deals: burst / 4 })
    const ids = await batchOf('id', 'published_at')
    const poll = await explainPrepared(turn.db, 'order by e.seq', [`'{}'`, ids])
    expect(poll.pages).toBeLessThan(pagesOfBatch)
    const mark = await explainPrepared(turn.db, 'set published_at', [ids])
    expect(mark.indexes).toContain('pk_outbox_events')
  })

  test('supersedes by deal, and prunes by age, in a full table', async () => {
    await insertMany(database(), { topic, count: burst, set: { parked_at: 'now()' } })
    await insertMany(database(), { topic, count: burst, set: { published_at: 'now()' } })
    const deals = await batchOf('aggregate_id', 'published_at')
    const supersede = await explainPrepared(turn.db, 'set superseded_at', [deals])
    expect(supersede.pages).toBeLessThan(pagesOfBatch)
    const prune = await explainPrepared(turn.db, 'delete from', [String(sevenDaysMs)])
    expect(prune.pages).toBeLessThan(200)
  })
})

test('superseding reads what is parked of the given deals, not all that is parked', async () => {
  await insertMany(database(), { topic, count: burst, set: { parked_at: 'now()' } })
  await insertMany(database(), { topic, count: burst })
  const { rows } = await sql<{ deal: string }>`
    select aggregate_id as deal from messenger.outbox_events order by seq desc limit ${batch}
  `.execute(database().admin)
  const deals = rows.map(({ deal }) => deal)
  const plan = await explain(database(), (db) => supersedeParked(db, deals))
  expect(plan.pages).toBeLessThan(pagesOfBatch)
})

test('C3: behind a million published rows a poll reads a few pages of the partial index', async () => {
  await insertMany(database(), { topic, count: 1_000_000, set: { published_at: 'now()' } })
  await insertMany(database(), { topic, count: burst, set: { parked_at: 'now()' } })
  for (let n = 0; n < 20; n += 1) await appendEvent(database(), { topic })
  await database().query('vacuum analyze messenger.outbox_events')
  const poll = await explainPoll()
  expect(poll.indexes).toContain('ix_outbox_pending')
  expect(poll.pages).toBeLessThan(200)
  const prune = await explain(database(), (db) => deleteSettledEvents(db, sevenDaysMs))
  expect(prune.indexes).toContain('ix_outbox_finished')
  expect(prune.pages).toBeLessThan(200)
}, 240_000)
