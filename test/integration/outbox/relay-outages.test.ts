/** The relay while Kafka is away, frozen, or answers too late. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestKafka, type TestKafka, type TestServerProcess } from '../../support/servers.js'
import { createTopic, describeWithKafka, readTopic } from '../../support/kafka.js'
import { createKafkaProducer } from '../../../src/outbox/kafka-producer.js'
import type { PublishOutcome } from '../../../src/outbox/publisher.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import {
  appendEvent,
  createTestKafkaPublisher,
  createTestRelay,
  plainKafka,
  silentLog,
  outboxState,
  type SeededEvent,
  type TestRelay,
} from './relay-fixtures.js'
import { forgetStatements, statementsOf } from './relay-statements.js'

/** An outage outlasts a send and a growing pause or two. */
const recovery = { timeoutMs: 30_000 }

const database = useTestDatabase()

describeWithKafka('the relay, when Kafka', () => {
  let kafka: TestKafka
  let node: TestServerProcess
  let proxy: TcpProxy
  let topic: string

  beforeAll(async () => {
    kafka = await startTestKafka({
      advertise: async (port) => (proxy = await startTcpProxy({ target: port })).port,
    })
    node = kafka.nodes[0] as TestServerProcess
  })
  afterAll(async () => {
    await kafka.stop()
    await proxy.stop()
  })
  beforeEach(async () => {
    await node.start()
    await database().query('truncate messenger.outbox_events')
    topic = await createTopic({ brokers: kafka.brokers })
  })
  afterEach(() => {
    proxy.resume()
    thaw()
  })

  const freeze = (): boolean => process.kill(node.pid, 'SIGSTOP')
  const thaw = (): boolean => process.kill(node.pid, 'SIGCONT')

  function createRelay(options: { sendTimeoutMs?: number } = {}): TestRelay & { sends: number[] } {
    const publisher = createTestKafkaPublisher(kafka.brokers, options)
    const sends: number[] = []
    const counting: typeof publisher.publish = (to, messages, signal) => {
      sends.push(messages.length)
      return publisher.publish(to, messages, signal)
    }
    const test = createTestRelay(database(), {
      topic,
      publisher: { publish: counting },
      ...options,
    })
    return { ...test, sends }
  }

  const append = (dealId: string = randomUUID()): Promise<SeededEvent> =>
    appendEvent(database(), { topic, dealId })

  const isPublished = async ({ id }: SeededEvent): Promise<boolean> =>
    (await outboxState(database(), id)).state === 'published'

  /** A relay that has a connection and a producer, from an event that went through. */
  async function startWarmRelay(options?: {
    sendTimeoutMs?: number
  }): Promise<TestRelay & { sends: number[] }> {
    const test = createRelay(options)
    test.relay.start()
    const first = await append()
    await waitFor('the first event', () => isPublished(first))
    return test
  }

  test('O3: is away at the start, events flow once it is there', async () => {
    await node.kill()
    const { relay, said } = createRelay()
    relay.start()
    const event = await append()
    await waitFor('the line', () => said('outbox waits for kafka').length > 0)
    expect(relay.health().broker).toMatchObject({ reachable: false })
    await node.start()
    await waitFor('the event', () => isPublished(event), recovery)
    expect(relay.health().broker).toEqual({ reachable: true })
    expect(said('outbox flows again').length).toBeGreaterThan(0)
  }, 60_000)

  test('O3: is away while there is nothing to send, readiness says so', async () => {
    proxy.cut()
    const { relay } = createRelay()
    relay.start()
    await waitFor('the reason', () => {
      const { broker } = relay.health()
      return !broker.reachable && broker.reason !== 'not reached yet'
    })
    proxy.resume()
    await waitFor('the broker', () => relay.health().broker.reachable, recovery)
  }, 60_000)

  test('O4, O7: freezes in mid-send, no session is in a transaction and all arrives after', async () => {
    const { said } = await startWarmRelay()
    freeze()
    const event = await append()
    const inTransaction: unknown[] = []
    await waitFor('the line', async () => {
      inTransaction.push(
        ...(await database().query(
          `select application_name, query from pg_stat_activity
           where datname = current_database() and state like 'idle in transaction%'`,
        )),
      )
      return said('outbox waits for kafka').length > 0
    })
    expect(inTransaction).toEqual([])
    thaw()
    await waitFor('the event', () => isPublished(event), recovery)
    expect((await outboxState(database(), event.id)).attempts).toBe(0)
  }, 60_000)

  // Its full length, two minutes, is in test/chaos/relay-outage.chaos.ts.
  test('O5: is away for long: no attempts spent, few tries, one line', async () => {
    const relay = await startWarmRelay()
    const { said, sends } = relay
    proxy.cut()
    const events = await Promise.all(Array.from({ length: 20 }, () => append()))
    const before = sends.length
    forgetStatements()
    // Three tries in a row are an outage of several seconds: the pause doubles from one on.
    await waitFor('three tries', () => sends.length >= before + 3, recovery)
    // A poll and a look for what it supersedes; at each of the poll's own 50 ms it would be hundreds.
    const tries = sends.length - before
    expect(statementsOf(relay).length).toBeLessThanOrEqual(2 * (tries + 1))
    for (const { id } of events) {
      expect(await outboxState(database(), id)).toMatchObject({ state: 'pending', attempts: 0 })
    }
    expect(said('outbox waits for kafka').length).toBeLessThanOrEqual(2)
    proxy.resume()
    for (const event of events) await waitFor('all', () => isPublished(event), recovery)
  }, 90_000)

  test.each([
    ['dead', () => proxy.cut()],
    ['frozen', () => freeze()],
  ])(
    'O6: is %s, a stop takes no longer than a few seconds',
    async (_, fault) => {
      const { relay, sends } = await startWarmRelay({ sendTimeoutMs: 60_000 })
      fault()
      const before = sends.length
      const event = await append()
      await waitFor('the send', () => sends.length > before)
      const asked = performance.now()
      await relay.stop()
      expect(performance.now() - asked).toBeLessThan(5_000)
      expect(await outboxState(database(), event.id)).toMatchObject({
        state: 'pending',
        attempts: 0,
      })
    },
    60_000,
  )

  test('O8: a kafkajs producer loses the next message after a lost answer: why it is discarded', async () => {
    const producer = createKafkaProducer(
      {
        kafka: { ...plainKafka, brokers: kafka.brokers },
        sendTimeoutMs: 1_000,
        log: silentLog,
      },
      topic,
    )
    const send = (key: string): Promise<PublishOutcome> =>
      producer.send(topic, [{ key, headers: {}, value: key, timestampMs: Date.now() }])
    expect(await send('first')).toEqual({ kind: 'published' })
    proxy.pauseResponses()
    // All its retries are used up here; with a deadline that is cut short.
    expect(await send('unanswered')).toMatchObject({ kind: 'unknown' })
    proxy.resume()
    expect(await send('lost')).toEqual({ kind: 'published' })
    producer.discard()
    const stored = (await readTopic(topic, kafka.brokers)).map(({ key }) => key)
    expect(stored).toEqual(['first', 'unanswered'])
  }, 60_000)

  test('O8: stores one send and its answer is lost: that one and the next are both in the log', async () => {
    const publisher = createTestKafkaPublisher(kafka.brokers, { sendTimeoutMs: 1_500 })
    const never = new AbortController().signal
    const send = (key: string): Promise<PublishOutcome> => {
      const message = { key, headers: {}, value: key, timestampMs: Date.now() }
      return publisher.publish(topic, [message], never)
    }
    expect(await send('first')).toEqual({ kind: 'published' })
    proxy.pauseResponses()
    expect(await send('unanswered')).toMatchObject({ kind: 'unknown' })
    proxy.resume()
    expect(await send('next')).toEqual({ kind: 'published' })
    const stored = (await readTopic(topic, kafka.brokers)).map(({ key }) => key)
    expect(stored).toEqual(['first', 'unanswered', 'next'])
  }, 60_000)

  test('Q2: comes and goes, per deal the first appearances rise in the order of the log', async () => {
    const { relay, counted } = await startWarmRelay({ sendTimeoutMs: 1_500 })
    const deals = Array.from({ length: 5 }, () => randomUUID())
    const events: SeededEvent[] = []
    for (let round = 0; round < 12; round += 1) {
      for (const dealId of deals) events.push(await append(dealId))
      if (round % 4 === 1) proxy.dropConnections()
      if (round % 4 === 2) proxy.pauseResponses()
      if (round % 4 === 3) {
        await waitFor('the outage', () => !relay.health().broker.reachable, recovery)
        proxy.resume()
      }
    }
    for (const event of events) await waitFor('all', () => isPublished(event), recovery)
    expect(counted.published).toBe(events.length + 1)
    const log = await readTopic(topic, kafka.brokers)
    for (const dealId of deals) {
      const sequences = log
        .filter(({ key }) => key === dealId)
        .map(({ headers }) => Number(headers['ce_sequence']))
      const firstAppearances = [...new Set(sequences)]
      expect(firstAppearances).toEqual([...firstAppearances].sort((a, b) => a - b))
      expect(firstAppearances).toHaveLength(12)
    }
  }, 120_000)
})
