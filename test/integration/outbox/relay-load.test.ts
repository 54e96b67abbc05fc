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
import { explain } from '../../support/statement-plan.js'

const database = useTestDatabase()
const eventCount = 10_000
const dealCount = 2_500
/** Enough to tell one statement a poll from two, though a look for old rows may come between. */
const pollsCounted = 40

interface Idling {
  readonly statements: number
  /** Of one processor, for this whole process, the test's own looking included. */
  readonly cpuShare: number
}

/** What forty idle polls in a row cost. */
async function measureIdling(relay: TestRelay): Promise<Idling> {
  forgetStatements()
  const start = performance.now()
  const cpuBefore = process.cpuUsage()
  const polls = (): number =>
    statementsOf(relay).filter((text) => text.includes('order by e.seq')).length
  await waitFor('the polls', () => polls() >= pollsCounted)
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpuShare = (user + system) / 1_000 / (performance.now() - start)
  return { statements: statementsOf(relay).length, cpuShare }
}

/** Pages that an idle poll looks at, once it has met what the last batches left behind. */
async function pagesOfIdlePoll(): Promise<number> {
  const { pages } = await explain(database(), (db) =>
    selectDueEvents(db, { limit: 500, exceptTopics: [] }),
  )
  return pages
}

describeWithKafka('behind one parked event', () => {
  test('P4: ten thousand others are published, in order per deal, and idling costs the same', async () => {
    const topic = await createTopic({ partitions: 3 })
    const publisher = createTestKafkaPublisher(await kafkaBrokers())
    const relay = createTestRelay(database(), { topic, publisher, maxAttempts: 1 })
    relay.relay.start()
    const parked = await insertRaw(database(), { topic, type: 'Nonsense' })
    await waitFor('the event to be parked', () => relay.counted.parked === 1)
    const before = await measureIdling(relay)

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

    const after = await measureIdling(relay)
    // One statement a poll; retention's look, every 30 s, may fall into either count.
    for (const { statements, cpuShare } of [before, after]) {
      expect(statements).toBeGreaterThanOrEqual(pollsCounted)
      expect(statements).toBeLessThanOrEqual(pollsCounted + 1)
      // Twenty polls a second here, one in production; a loop that spins takes all of a processor.
      expect(cpuShare).toBeLessThan(0.25)
    }
    // Dead entries stay in the index until it is vacuumed, some hundred to a page, and are passed over,
    // as soon as no snapshot is left that saw them alive: an analyze of the table may hold one.
    await waitFor('idle polls of few pages', async () => (await pagesOfIdlePoll()) < 100)
  })
})
