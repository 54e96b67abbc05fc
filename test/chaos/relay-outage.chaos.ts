/** O5 at its full length: the broker is away for two minutes. */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestKafka, type TestKafka, type TestServerProcess } from '../support/servers.js'
import {
  appendEvent,
  createTestKafkaPublisher,
  createTestRelay,
} from '../integration/outbox/relay-fixtures.js'
import { forgetStatements, statementsOf } from '../integration/outbox/relay-statements.js'
import { createTopic, describeWithKafka, readTopic } from '../support/kafka.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const awayMs = 120_000
const writeEveryMs = 500
/**
 * The pauses double from one second to ten, so there are some fifteen tries; each costs a poll and a
 * look for what it supersedes. Twice that leaves room for a slow machine.
 */
const fewStatements = 60

const database = useTestDatabase()

describeWithKafka('the relay', () => {
  let kafka: TestKafka
  beforeAll(async () => {
    kafka = await startTestKafka()
  })
  afterAll(() => kafka.stop())

  test('O5: bears a broker that is away for two minutes', async () => {
    const node = kafka.nodes[0] as TestServerProcess
    const topic = await createTopic({ brokers: kafka.brokers, partitions: 3 })
    const publisher = createTestKafkaPublisher(kafka.brokers, { sendTimeoutMs: 15_000 })
    const relay = createTestRelay(database(), { topic, publisher, sendTimeoutMs: 15_000 })
    relay.relay.start()
    const deals = Array.from({ length: 20 }, () => randomUUID())
    let written = 0
    const write = async (): Promise<void> => {
      await appendEvent(database(), { topic, dealId: String(deals[written % deals.length]) })
      written += 1
    }
    await write()
    await waitFor('the first event', () => relay.counted.published === written)

    await node.kill()
    await write()
    await waitFor('the line', () => relay.said('outbox waits for kafka').length > 0)
    forgetStatements()
    const back = performance.now() + awayMs
    while (performance.now() < back) {
      await write()
      await delay(writeEveryMs)
    }
    const statements = statementsOf(relay).length
    process.stdout.write(`${statements} statements in ${awayMs / 1_000} s without a broker\n`)
    expect(statements).toBeLessThan(fewStatements)
    expect(
      await database().query('select from messenger.outbox_events where attempts > 0'),
    ).toEqual([])
    // One line for the outage, or one more where it showed itself by another code.
    expect(relay.said('outbox waits for kafka').length).toBeLessThanOrEqual(2)

    await node.start()
    await waitFor('all of them', () => relay.counted.published === written)
    const sequences = new Set(
      (await readTopic(topic, kafka.brokers)).map(({ headers }) => headers['ce_sequence']),
    )
    expect(sequences.size).toBe(written)
    expect(relay.counted).toMatchObject({ parked: 0, staleMarks: 0 })
  }, 400_000)
})
