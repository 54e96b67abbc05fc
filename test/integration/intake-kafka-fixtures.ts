/** The whole intake as production puts it together, messages for it, and what its group has committed. */

import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Partitioners } from 'kafkajs'
import { afterEach, beforeEach, expect } from 'vitest'
import { createIntake, type Intake } from '../../src/intake/intake.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { testRetryOptions, testTopic } from '../support/job.js'
import { kafkaBrokers, kafkaClient } from '../support/kafka.js'
import type { TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { dealCreated, type TestMessage } from './intake-fixtures.js'

export interface TestIntake extends Intake {
  readonly said: (event: string) => Record<string, unknown>[]
}

export interface IntakeSeed {
  readonly topic: string
  /** Default: the run's own. */
  readonly brokers?: readonly string[]
  /** Of the database. */
  readonly url?: string
}

export interface Counts {
  readonly ready: number
  readonly chats: number
  readonly events: number
  readonly parked: number
}

export interface IntakeBench {
  /** Starts an intake of the test's group; it is stopped after the test. */
  start(seed: IntakeSeed): Promise<TestIntake>
  /** How many messages of the topic the group has committed. */
  committed(topic: string, brokers?: readonly string[]): Promise<number>
  counts(): Promise<Counts>
  untilReady(n: number): Promise<unknown>
  /** Runs after the test, before what was registered earlier. */
  afterwards(end: () => Promise<unknown>): void
}

/**
 * Registers the hooks that give each test a group of its own, stop its intakes, empty the tables, and
 * refuse a rejection that nobody owned (O4); call it at the file's top level.
 */
export function useIntakeBench(database: () => TestDatabase): IntakeBench {
  const ends: (() => Promise<unknown>)[] = []
  let groupId = ''
  let rejections: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)

  beforeEach(() => {
    groupId = `test.${randomBytes(6).toString('hex')}`
    rejections = []
    process.on('unhandledRejection', onRejection)
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
    process.off('unhandledRejection', onRejection)
    expect(rejections).toEqual([])
    await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
      messenger.outbox_events, messenger.chats, messenger.participants, messenger.chat_events,
      messenger.intake_parked`.execute(database().admin)
  })

  const counts = async (): Promise<Counts> => {
    const [row] = await database().query<Counts & Record<string, unknown>>(
      `select (select count(*)::int from messenger.deal_chat_provisions
           where status = 'Ready') as ready,
         (select count(*)::int from messenger.chats) as chats,
         (select count(*)::int from messenger.outbox_events) as events,
         (select count(*)::int from messenger.intake_parked) as parked`,
    )
    if (row === undefined) throw new Error('no row')
    return row
  }
  return {
    async start(seed) {
      const url = seed.url ?? database().url
      const brokers = seed.brokers ?? (await kafkaBrokers())
      const { intake, said } = createTestIntake({ topic: seed.topic, url, brokers, groupId })
      ends.push(async () => {
        await intake.stop()
        await intake.close()
      })
      intake.start()
      return { ...intake, said }
    },
    committed: (topic, brokers) => committed(groupId, topic, brokers),
    counts,
    untilReady: (n) =>
      waitFor(`${n} deals`, async () => (await counts()).ready >= n, { timeoutMs: 25_000 }),
    afterwards: (end) => void ends.push(end),
  }
}

async function committed(
  groupId: string,
  topic: string,
  brokers?: readonly string[],
): Promise<number> {
  const admin = (await kafkaClient(brokers)).admin()
  await admin.connect()
  try {
    // The group's coordinator may just be moving, which the admin client takes for a failure.
    const { partitions } = await waitFor('the offsets of the group', async () => {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
      return offsets
    })
    return partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
  } finally {
    await admin.disconnect()
  }
}

function createTestIntake(seed: Required<IntakeSeed> & { readonly groupId: string }): {
  readonly intake: Intake
  readonly said: TestIntake['said']
} {
  const lines: Record<string, unknown>[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const intake = createIntake({
    config: {
      database: { url: seed.url, lockUrl: seed.url },
      retry: testRetryOptions,
      outbox: {
        relay: 'off',
        topic: testTopic,
        pollIntervalMs: 1_000,
        batchSize: 500,
        maxAttempts: 10,
        sendTimeoutMs: 15_000,
        retentionMs: 86_400_000,
      },
      kafka: {
        brokers: seed.brokers,
        clientId: 'intake-under-test',
        ssl: false,
        sslCaFile: undefined,
        sasl: undefined,
      },
      intake: { enabled: true, topic: seed.topic, groupId: seed.groupId },
    },
    chats: referenceChats,
    log: createLogger({ level: 'info', destination: { write } }),
    metrics: createMetrics(),
    onEventWritten: () => undefined,
  })
  return { intake, said: (event) => lines.filter((line) => line['event'] === event) }
}

export function deals(n: number): TestMessage[] {
  return Array.from({ length: n }, () => dealCreated())
}

export async function produce(
  topic: string,
  messages: readonly TestMessage[],
  brokers?: readonly string[],
): Promise<void> {
  const producer = (await kafkaClient(brokers)).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  try {
    await producer.send({
      topic,
      messages: messages.map(({ dealId, value }) => ({ key: dealId, value })),
    })
  } finally {
    await producer.disconnect()
  }
}
