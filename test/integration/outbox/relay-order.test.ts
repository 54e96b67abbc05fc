/** In which order the relay delivers, and what holds what back. */

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, test } from 'vitest'
import { describeWithKafka, kafkaBrokers, readTopic } from '../../support/kafka.js'
import { useTestDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import {
  createTestKafkaPublisher,
  createTestRelay,
  insertRaw,
  outboxState,
  useRelayBench,
} from './relay-fixtures.js'

const database = useTestDatabase()

/** The test database's `query`, inside this client's transaction. */
function runOn(client: pg.Client): TestDatabase['query'] {
  return async <T extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
    (await client.query<T>(text, values)).rows
}

describeWithKafka('the relay', () => {
  const bench = useRelayBench(database)
  const { startRelay, append, isPublished } = bench

  test('Q1: an event that commits late is published, though later ones went before', async () => {
    const { counted } = await startRelay()
    const late = new pg.Client({ connectionString: database().adminUrl })
    await late.connect()
    await late.query('begin')
    const id = await insertRaw({ ...database(), query: runOn(late) }, { topic: bench.topic })
    const early = await append()
    await waitFor('the one that committed first', () => isPublished(early.id))
    await late.query('commit')
    await late.end()
    await waitFor('the late one', () => isPublished(id))
    expect(counted.published).toBe(2)
  })

  test('Q3: a deal whose event waits in backoff waits, other deals don’t', async () => {
    const first = await append()
    await database().query(
      `update messenger.outbox_events set attempts = 1, next_attempt_at = now() + interval '1 hour'`,
    )
    const behind = await append({ dealId: first.dealId })
    const other = await append()
    await startRelay()
    await waitFor('the other deal', () => isPublished(other.id))
    expect(await outboxState(database(), behind.id)).toMatchObject({ state: 'pending' })
    await database().query(
      'update messenger.outbox_events set next_attempt_at = now() where id = $1',
      [first.id],
    )
    await waitFor('the one behind', () => isPublished(behind.id))
    const ofDeal = (await readTopic(bench.topic)).filter(({ key }) => key === first.dealId)
    expect(ofDeal.map(({ headers }) => headers['ce_id'])).toEqual([first.id, behind.id])
  })

  test('a failed event holds back what its deal has behind it in the same batch', async () => {
    const dealId = randomUUID()
    const bad = await insertRaw(database(), {
      topic: bench.topic,
      aggregate_id: dealId,
      type: 'DealChatRenamed',
    })
    const behind = await append({ dealId })
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
    const parked = await insertRaw(database(), { topic: bench.topic, type: 'DealChatRenamed' })
    await waitFor('the parking', () => said('outbox parked').length === 1)
    const [row] = await database().query<{ deal: string }>(
      'select aggregate_id as deal from messenger.outbox_events',
    )
    const newer = await append({ dealId: String(row?.deal) })
    await waitFor('the newer one', () => isPublished(newer.id))
    expect(await outboxState(database(), parked)).toMatchObject({ state: 'superseded' })
    expect(said('outbox superseded')).toMatchObject([{ events: 1 }])
  })

  test('a topic that is missing is waited for, without attempts; other topics flow', async () => {
    const missing = await append({ topic: `${bench.topic}.missing` })
    const good = await append()
    const { said, relay } = await startRelay()
    await waitFor('the good one', () => isPublished(good.id))
    await waitFor('the line', () => said('outbox waits for kafka').length === 1)
    expect(said('outbox waits for kafka')).toMatchObject([
      {
        topic: `${bench.topic}.missing`,
        reason: expect.stringContaining('UNKNOWN_TOPIC') as string,
      },
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
      topic: bench.topic,
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
    const event = await append()
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
