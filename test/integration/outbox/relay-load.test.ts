/** Many events behind one that is parked: all others flow, and an idle poll costs what it did. */

import { expect, test } from 'vitest'
import { createTopic, describeWithKafka, kafkaBrokers, readTopic } from '../../support/kafka.js'
import { selectDueEvents } from '../../../src/outbox/due-events.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { insertMany } from './many-events.js'
import {
  createTestKafkaPublisher,
  createTestRelay,
  insertRaw,
  outboxState,
  type TestRelay,
} from './relay-fixtures.js'
import { forgetStatements, statementsOf } from './relay-statements.js'
import { explain } from './statement-plan.js'

const database = useTestDatabase()
const eventCount = 10_000
const dealCount = 2_500
/** Enough to tell one statement a poll from two, though a look for old rows may come between. */
const pollsCounted = 40

/** Statements of forty idle polls in a row. */
async function countIdleStatements(relay: TestRelay): Promise<number> {
  forgetStatements()
  const polls = (): number =>
    statementsOf(relay).filter((text) => text.includes('order by e.seq')).length
  await waitFor('the polls', () => polls() >= pollsCounted)
  return statementsOf(relay).length
}

/** Pages that an idle poll looks at, once it has met what the last batches left behind. */
async function pagesOfIdlePoll(): Promise<number> {
  const { pages } = await explain(database(), (db) =>
    selectDueEvents(db, { limit: 500, exceptTopics: [] }),
  )
  return pages
}

describeWithKafka('behind one parked event', () => {
  test('ten thousand others are published, in order per deal, and idling costs the same', async () => {
    const topic = await createTopic({ partitions: 3 })
    const publisher = createTestKafkaPublisher(await kafkaBrokers())
    const relay = createTestRelay(database(), { topic, publisher, maxAttempts: 1 })
    relay.relay.start()
    const parked = await insertRaw(database(), { topic, type: 'Nonsense' })
    await waitFor('the event to be parked', () => relay.counted.parked === 1)
    const before = await countIdleStatements(relay)

    await insertMany(database(), { topic, count: eventCount, deals: dealCount })
    await waitFor('all others', () => relay.counted.published === eventCount)
    expect(await outboxState(database(), parked)).toMatchObject({ state: 'parked', attempts: 1 })
    const messages = await readTopic(topic)
    expect(messages).toHaveLength(eventCount)
    const last = new Map<string, number>()
    for (const { key, headers } of messages) {
      const sequence = Number(headers['ce_sequence'])
      expect(sequence).toBeGreaterThan(last.get(String(key)) ?? 0)
      last.set(String(key), sequence)
    }
    expect(last.size).toBe(dealCount)

    const after = await countIdleStatements(relay)
    // One statement a poll; retention's look, every 30 s, may fall into either count.
    for (const count of [before, after]) {
      expect(count).toBeGreaterThanOrEqual(pollsCounted)
      expect(count).toBeLessThanOrEqual(pollsCounted + 1)
    }
    // Dead entries stay in the index until it is vacuumed, some hundred to a page, and are passed over.
    expect(await pagesOfIdlePoll()).toBeLessThan(100)
  })
})
