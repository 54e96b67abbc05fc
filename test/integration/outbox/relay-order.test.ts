/** In which order the relay delivers, and what holds what back. */

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { createTopic, describeWithKafka, kafkaBrokers, readTopic } from '../../support/kafka.js'
import { useTestDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import {
  appendEvent,
  createTestKafkaPublisher,
  createTestRelay,
  insertRaw,
  outboxState,
  type TestRelay,
} from './relay-fixtures.js'

const database = useTestDatabase()

/** The test database's `query`, inside this client's transaction. */
function runOn(client: pg.Client): TestDatabase['query'] {
  return async <T extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
    (await client.query<T>(text, values)).rows
}

describeWithKafka('the relay', () => {
  let topic: string
  beforeEach(async () => {
    topic = await createTopic({ partitions: 3 })
    await database().query('truncate messenger.outbox_events')
  })

  async function startRelay(
    options: { maxAttempts?: number; topic?: string } = {},
  ): Promise<TestRelay> {
    const publisher = createTestKafkaPublisher(await kafkaBrokers())
    const test = createTestRelay(database(), { topic, publisher, ...options })
    test.relay.start()
    return test
  }

  const published = async (id: string): Promise<boolean> =>
    (await outboxState(database(), id)).state === 'published'

  test('Q1: an event that commits late is published, though later ones went before', async () => {
    const { counted } = await startRelay()
    const late = new pg.Client({ connectionString: database().adminUrl })
    await late.connect()
    await late.query('begin')
    const id = await insertRaw({ ...database(), query: runOn(late) }, { topic })
    const early = await appendEvent(database(), { topic })
    await waitFor('the one that committed first', () => published(early.id))
    await late.query('commit')
    await late.end()
    await waitFor('the late one', () => published(id))
    expect(counted.published).toBe(2)
  })

  test('Q3: a deal whose event waits in backoff waits, other deals don’t', async () => {
    const first = await appendEvent(database(), { topic })
    await database().query(
      `update messenger.outbox_events set attempts = 1, next_attempt_at = now() + interval '1 hour'`,
    )
    const behind = await appendEvent(database(), { topic, dealId: first.dealId })
    const other = await appendEvent(database(), { topic })
    await startRelay()
    await waitFor('the other deal', () => published(other.id))
    expect(await outboxState(database(), behind.id)).toMatchObject({ state: 'pending' })
    await database().query(
      'update messenger.outbox_events set next_attempt_at = now() where id = $1',
      [first.id],
    )
    await waitFor('the one behind', () => published(behind.id))
    const ofDeal = (await readTopic(topic)).filter(({ key }) => key === first.dealId)
    expect(ofDeal.map(({ headers }) => headers['ce_id'])).toEqual([first.id, behind.id])
  })

  test('a failed event holds back what its deal has behind it in the same batch', async () => {
    const dealId = randomUUID()
    const bad = await insertRaw(database(), {
      topic,
      aggregate_id: dealId,
      type: 'DealChatRenamed',
    })
    const behind = await appendEvent(database(), { topic, dealId })
    const { said } = await startRelay()
    await waitFor('the failure', () => said('outbox event failed').length > 0)
    expect(await outboxState(database(), behind.id)).toMatchObject({
      state: 'pending',
      attempts: 0,
    })
    expect(await outboxState(database(), bad)).toMatchObject({ state: 'pending', attempts: 1 })
  })

  test('a parked event is superseded once a newer one of its deal exists', async () => {
    const { said } = await startRelay({ maxAttempts: 1 })
    const parked = await insertRaw(database(), { topic, type: 'DealChatRenamed' })
    await waitFor('the parking', () => said('outbox parked').length === 1)
    const [row] = await database().query<{ deal: string }>(
      'select aggregate_id as deal from messenger.outbox_events',
    )
    const newer = await appendEvent(database(), { topic, dealId: String(row?.deal) })
    await waitFor('the newer one', () => published(newer.id))
    expect(await outboxState(database(), parked)).toMatchObject({ state: 'superseded' })
    expect(said('outbox superseded')).toMatchObject([{ events: 1 }])
  })

  test('a topic that is missing is waited for, without attempts; other topics flow', async () => {
    const missing = await appendEvent(database(), { topic: `${topic}.missing` })
    const good = await appendEvent(database(), { topic })
    const { said, relay } = await startRelay()
    await waitFor('the good one', () => published(good.id))
    await waitFor('the line', () => said('outbox waits for kafka').length === 1)
    expect(said('outbox waits for kafka')).toMatchObject([
      { topic: `${topic}.missing`, reason: expect.stringContaining('UNKNOWN_TOPIC') as string },
    ])
    expect(await outboxState(database(), missing.id)).toMatchObject({
      state: 'pending',
      attempts: 0,
    })
    expect(relay.health().broker).toEqual({ reachable: true })
  })

  test('what another one has settled in mid-send is counted and logged, and stays as it is', async () => {
    const publisher = createTestKafkaPublisher(await kafkaBrokers())
    const { relay, said, counted } = createTestRelay(database(), {
      topic,
      publisher: {
        publish: async (...args) => {
          const outcome = await publisher.publish(...args)
          await database().query(
            `update messenger.outbox_events set published_at = clock_timestamp() - interval '1 hour' where published_at is null`,
          )
          return outcome
        },
      },
    })
    const event = await appendEvent(database(), { topic })
    relay.start()
    await waitFor('the refusal', () => said('outbox mark refused').length === 1)
    expect(counted).toEqual({ published: 0, staleMarks: 1, parked: 0 })
    const rows = await database().query(
      `select from messenger.outbox_events where id = $1 and published_at < now() - interval '30 minutes'`,
      [event.id],
    )
    expect(rows).toHaveLength(1)
  })
})
