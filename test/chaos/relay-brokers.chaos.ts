/** The relay against three real brokers: a rolling restart under load, one frozen, one killed. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startLocalKafka, type LocalKafka } from '../../src/demo/servers/local-kafka.js'
import type { KafkaNode } from '../../src/demo/servers/kafka-node.js'
import {
  appendEvent,
  createTestKafkaPublisher,
  createTestRelay,
  type TestRelay,
} from '../integration/outbox/relay-fixtures.js'
import { createTopic, describeWithKafka, readTopic } from '../support/kafka.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

/** Promised: the lag is back to normal this long after the last broker is back. */
const recoveryMs = 30_000
/** Of the oldest unpublished event, under this load: a poll and a send, on a busy machine. */
const normalLagMs = 1_000
/** A frozen broker is found out by its peers in seconds; this outlasts several sends. */
const frozenMs = 45_000

const database = useTestDatabase()

describeWithKafka('the relay, on three brokers', () => {
  let kafka: LocalKafka
  let topic: string
  let deals: string[]

  beforeAll(async () => {
    kafka = await startLocalKafka({ nodes: 3 })
    // A neighbour without replicas: while its broker is away it has no leader, as others' topics do.
    await createTopic({ brokers: kafka.brokers, partitions: 3, replicas: 1 })
  }, 240_000)
  afterAll(() => kafka.stop())

  beforeEach(async () => {
    topic = await createTopic({ brokers: kafka.brokers, partitions: 3 })
    await database().query('truncate messenger.outbox_events')
    deals = Array.from({ length: 20 }, () => randomUUID())
  })

  function startRelay(): TestRelay {
    const publisher = createTestKafkaPublisher(kafka.brokers, { sendTimeoutMs: 15_000 })
    const test = createTestRelay(database(), { topic, publisher, sendTimeoutMs: 15_000 })
    test.relay.start()
    return test
  }

  /**
   * Writes one event after the other, as fast as they commit, while `during` runs and until the lag
   * is back to normal; returns their number.
   */
  async function underLoad(during: () => Promise<void>): Promise<number> {
    const ended = new AbortController()
    const fault = during()
      .then(expectNormalLag)
      .finally(() => ended.abort())
    let written = 0
    while (!ended.signal.aborted) {
      await appendEvent(database(), { topic, dealId: String(deals[written % deals.length]) })
      written += 1
    }
    await fault
    return written
  }

  async function expectNormalLag(): Promise<void> {
    const since = performance.now()
    const lags: number[] = []
    await waitFor(
      'a normal lag',
      async () => {
        lags.push(await lagMs())
        return (lags.at(-1) ?? Infinity) <= normalLagMs
      },
      { timeoutMs: recoveryMs },
    )
    const first = Math.round(lags[0] ?? 0)
    const took = Math.round(performance.now() - since)
    process.stdout.write(`lag of ${first} ms back to normal after ${took} ms\n`)
  }

  /** Age of the oldest event that is not published yet. */
  async function lagMs(): Promise<number> {
    const [row] = await database().query<{ ms: number }>(
      `select coalesce(extract(epoch from clock_timestamp() - min(occurred_at)), 0)::float8 * 1000 as ms
       from messenger.outbox_events where published_at is null`,
    )
    return row?.ms ?? Infinity
  }

  async function expectAllInOrder({ counted }: TestRelay, written: number): Promise<void> {
    await waitFor('the last ones', () => counted.published === written)
    const log = await readTopic(topic, kafka.brokers)
    const ofDeal = (deal: string): number[] => [
      ...new Set(
        log.filter(({ key }) => key === deal).map(({ headers }) => Number(headers['ce_sequence'])),
      ),
    ]
    const firstAppearances = deals.map(ofDeal)
    expect(firstAppearances.reduce((sum, { length }) => sum + length, 0)).toBe(written)
    for (const sequences of firstAppearances) {
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
    }
  }

  const third = (): KafkaNode => kafka.nodes[2] as KafkaNode

  test('loses nothing in a rolling restart', async () => {
    const test = startRelay()
    const written = await underLoad(async () => {
      for (const node of kafka.nodes) await node.restart()
    })
    await expectAllInOrder(test, written)
  }, 400_000)

  test('loses nothing when one broker is killed and comes back', async () => {
    const test = startRelay()
    const written = await underLoad(async () => {
      await third().kill()
      await third().start()
    })
    await expectAllInOrder(test, written)
  }, 400_000)

  test('goes on while one broker is frozen, and loses nothing', async () => {
    const test = startRelay()
    const { pid } = third()
    const written = await underLoad(async () => {
      process.kill(pid, 'SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, frozenMs))
      process.kill(pid, 'SIGCONT')
    })
    await expectAllInOrder(test, written)
  }, 400_000)
})
