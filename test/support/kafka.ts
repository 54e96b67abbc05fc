/** The run's Kafka as a test sees it: a broker, topics of its own, and what a topic holds. */

import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { Kafka, logLevel, type IHeaders, type KafkaMessage } from 'kafkajs'
import { describe, inject } from 'vitest'
import { mustRun } from './must-run.js'
import type { KafkaAnswer } from './shared-kafka.js'
import { waitFor } from './wait-for.js'

const offer = inject('kafka')

/**
 * As vitest's describe. Where no broker can be run the tests inside are skipped with a line that
 * says why; in CI they fail instead.
 */
export const describeWithKafka = mustRun(
  'Kafka',
  offer.available ? undefined : offer.reason,
  describe,
)

let brokers: Promise<string[]> | undefined

/** host:port of the run's broker, which the first call of all starts (about five seconds). */
export function kafkaBrokers(): Promise<string[]> {
  return (brokers ??= askForBrokers())
}

async function askForBrokers(): Promise<string[]> {
  if (!offer.available) throw new Error(`there is no Kafka here: ${offer.reason}`)
  const answer = JSON.parse(await text(connect(offer.port, '127.0.0.1'))) as KafkaAnswer
  if ('error' in answer) throw new Error(answer.error)
  return answer.brokers
}

/** A client for arranging and looking; what is tested makes its own. */
export async function kafkaClient(of?: readonly string[]): Promise<Kafka> {
  // kafkajs logs answers that it goes on to retry as errors.
  const brokers = of === undefined ? await kafkaBrokers() : [...of]
  return new Kafka({ clientId: 'test', brokers, logLevel: logLevel.NOTHING })
}

export interface TopicOptions {
  /** Left out, it gets a name that no other test has. */
  readonly topic?: string
  readonly partitions?: number
  readonly replicas?: number
  /** Topic settings, such as {'max.message.bytes': '1000'}. */
  readonly config?: Readonly<Record<string, string>>
  /** Of another cluster than the run's own. */
  readonly brokers?: readonly string[]
}

/** Makes a topic and returns its name once every partition has a leader. */
export async function createTopic(options: TopicOptions = {}): Promise<string> {
  const topic = options.topic ?? `test.${randomBytes(6).toString('hex')}`
  const numPartitions = options.partitions ?? 1
  const admin = (await kafkaClient(options.brokers)).admin()
  await admin.connect()
  try {
    await admin.createTopics({
      // kafkajs's own wait ends with an error where a broker has not heard of the topic yet, as one
      // that has just started may not have.
      waitForLeaders: false,
      topics: [
        {
          topic,
          numPartitions,
          replicationFactor: options.replicas ?? brokersDefault,
          configEntries: Object.entries(options.config ?? {}).map(([name, value]) => ({
            name,
            value,
          })),
        },
      ],
    })
    await waitFor(`topic ${topic}`, async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
      const partitions = topics[0]?.partitions ?? []
      return (
        partitions.length === numPartitions && partitions.every(({ leader }) => leader !== noLeader)
      )
    })
  } finally {
    await admin.disconnect()
  }
  return topic
}

/** As many replicas as the cluster gives a topic of which nothing is said. */
const brokersDefault = -1
/** What Kafka's metadata says of a partition that nobody leads. */
const noLeader = -1

export interface TopicMessage {
  readonly partition: number
  readonly offset: string
  readonly key: string | null
  readonly value: Buffer | null
  /** A header that is there twice is joined by a comma, so that no test takes it for one. */
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since 1970, as Kafka has it. */
  readonly timestamp: string
}

/** All that the topic holds now, from the beginning to the end offsets, by partition and offset. */
export async function readTopic(
  topic: string,
  of?: readonly string[],
): Promise<readonly TopicMessage[]> {
  const kafka = await kafkaClient(of)
  const admin = kafka.admin()
  await admin.connect()
  // A leader that has just been elected refuses the question for a moment.
  const ends = await waitFor('the end of the topic', () => admin.fetchTopicOffsets(topic))
  await admin.disconnect()
  const unread = new Map(
    ends
      .filter((end) => BigInt(end.high) > BigInt(end.low))
      .map((end) => [end.partition, BigInt(end.high)]),
  )
  const messages: TopicMessage[] = []
  if (unread.size === 0) return messages
  const consumer = kafka.consumer({ groupId: `${topic}.${randomBytes(6).toString('hex')}` })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      // A new group's coordinator may still be loading: kafkajs tries such a thing again itself.
      consumer.on('consumer.crash', ({ payload }) => {
        if (!payload.restart) reject(payload.error)
      })
      consumer
        .run({
          autoCommit: false,
          eachBatch: ({ batch }) => {
            const end = unread.get(batch.partition)
            if (end === undefined) return Promise.resolve()
            const wanted = batch.messages.filter((message) => BigInt(message.offset) < end)
            messages.push(...wanted.map((message) => describeMessage(batch.partition, message)))
            if (BigInt(batch.lastOffset()) + 1n >= end) unread.delete(batch.partition)
            if (unread.size === 0) resolve()
            return Promise.resolve()
          },
        })
        .catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
  return messages.sort(
    (a, b) => a.partition - b.partition || Number(BigInt(a.offset) - BigInt(b.offset)),
  )
}

function describeMessage(partition: number, message: KafkaMessage): TopicMessage {
  return {
    partition,
    offset: message.offset,
    key: message.key?.toString() ?? null,
    value: message.value,
    headers: describeHeaders(message.headers ?? {}),
    timestamp: message.timestamp,
  }
}

function describeHeaders(headers: IHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]),
  )
}
