/** What the relay's statements cost the database, whatever the table holds and its statistics say. */

import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { selectDueEvents, supersedeParked } from '../../../src/outbox/due-events.js'
import { deleteSettledEvents } from '../../../src/outbox/retention.js'
import { useTestDatabase } from '../../support/test-database.js'
import { insertMany } from './many-events.js'
import { appendEvent } from './relay-fixtures.js'
import { explain, type StatementPlan } from '../../support/statement-plan.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const sevenDaysMs = 7 * 86_400_000
const burst = 10_000
const batch = 500
/** A look-up walks two or three pages of an index; the batch's own pages come on top. */
const pagesOfBatch = 3 * batch + 200

const analyze = (): Promise<unknown> => database().query('analyze messenger.outbox_events')

const explainPoll = (): Promise<StatementPlan> =>
  explain(database(), (db) => selectDueEvents(db, { limit: batch, exceptTopics: [] }))

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
