/**
 * One kafkajs producer with one producer id, from its first connect until it is discarded.
 *
 * Two silent losses of kafkajs 2.2.4 shape this file:
 *
 * - An idempotent producer numbers what it sends per partition. When a send fails, kafkajs takes the
 *   numbers of all its partitions back, also of those that were stored, and gives them to the *next*
 *   messages, which the broker then acknowledges as duplicates and drops. So a producer whose send
 *   failed, in whatever way, is never used again.
 * - A retry goes to the brokers that have not answered yet. When a partition's leader has meanwhile
 *   moved to one that has, its messages are sent to nobody and the send still succeeds. So the
 *   answer must name every partition that the messages went to.
 */

import { Kafka, Partitioners, type KafkaConfig, type Producer } from 'kafkajs'
import type { KafkaOptions } from '../config/config.js'
import { kafkaAddress } from './kafka-address.js'
import { classifyConnectError, classifySendError, type PublishFailure } from './kafka-errors.js'
import { stopIdleTimers } from './kafka-idle-timer.js'
import { kafkaLogOptions, type DebugLog } from './kafka-log.js'
import { limitMetadataTo } from './kafka-metadata-scope.js'
import { createKafkaSockets } from './kafka-sockets.js'
import { proofAgeMs, type OutgoingMessage, type PublishOutcome } from './publisher.js'

/**
 * Longer than a handshake over a bad line, short enough that a broker which drops packets leaves
 * time to try another one within a send.
 */
const connectTimeoutMs = 3_000

export interface KafkaProducerOptions {
  readonly kafka: KafkaOptions
  /** Milliseconds for one send with all its retries. */
  readonly sendTimeoutMs: number
  readonly log: DebugLog
}

export interface KafkaProducer {
  /** 'idle' when no connection is up: whatever it knew of the cluster may be out of date. */
  readonly state: 'new' | 'connecting' | 'connected' | 'idle'
  /** Never rejects. After anything but 'published' the producer must be discarded. */
  send(topic: string, messages: readonly OutgoingMessage[]): Promise<PublishOutcome>
  /** Cuts it off at once; a late answer changes nothing any more. */
  discard(): void
  /** Says good-bye to the brokers, for a producer with no send under way. */
  disconnect(): Promise<void>
}

/** A producer that is not connected yet; `topic` is the one that its first send goes to. */
export function createKafkaProducer(options: KafkaProducerOptions, topic: string): KafkaProducer {
  stopIdleTimers()
  const sockets = createKafkaSockets({ caFile: options.kafka.sslCaFile })
  const assigned = new Set<number>()
  const kafka = new Kafka({
    ...clientConfig(options),
    ...kafkaLogOptions(options.log),
    socketFactory: sockets.socketFactory,
  })
  limitMetadataTo(kafka, topic)
  const producer = kafka.producer({
    idempotent: true,
    // Two requests in flight may be stored in the other order when the first is retried.
    maxInFlightRequests: 1,
    // A topic made by accident has the wrong number of partitions, for ever.
    allowAutoTopicCreation: false,
    // Younger, and kafkajs answers an empty send from its memory instead of asking the cluster.
    metadataMaxAge: proofAgeMs,
    // Named, so that kafkajs's next change of its default can't move keys to other partitions. It
    // puts keys where Java clients and Debezium put them.
    createPartitioner: () => {
      const choose = Partitioners.DefaultPartitioner()
      return (args) => {
        const partition = choose(args)
        assigned.add(partition)
        return partition
      }
    },
  })
  let connecting: Promise<void> | undefined
  let connected = false

  const connect = async (): Promise<void> => {
    await (connecting ??= producer.connect())
    connected = true
  }

  return {
    get state() {
      if (connecting === undefined) return 'new'
      if (!connected) return 'connecting'
      return sockets.openCount > 0 ? 'connected' : 'idle'
    },
    async send(to, messages) {
      try {
        await connect()
      } catch (error) {
        return classifyConnectError(error)
      }
      try {
        assigned.clear()
        return await sendAll(producer, to, messages, assigned, requestTimeoutMs(options))
      } catch (error) {
        return classifySendError(error)
      }
    },
    discard: () => sockets.cut(),
    disconnect: () => producer.disconnect(),
  }
}

async function sendAll(
  producer: Producer,
  topic: string,
  messages: readonly OutgoingMessage[],
  assigned: ReadonlySet<number>,
  ackTimeoutMs: number,
): Promise<PublishOutcome> {
  const answers = await producer.send({
    topic,
    // All in-sync replicas: an acknowledged event survives the loss of its leader.
    acks: -1,
    timeout: ackTimeoutMs,
    messages: messages.map(({ key, headers, value, timestampMs }) => ({
      key,
      headers,
      value,
      timestamp: String(timestampMs),
    })),
  })
  const answered = new Set(answers.map((answer) => answer.partition))
  const missing = [...assigned].filter((partition) => !answered.has(partition))
  return missing.length === 0 ? { kind: 'published' } : unanswered(missing)
}

function unanswered(partitions: readonly number[]): PublishFailure {
  const names = partitions.join(', ')
  return { kind: 'unknown', reason: `no acknowledgement from partition ${names}` }
}

/** A third of the send's time: a frozen broker then leaves two tries for its successor. */
function requestTimeoutMs({ sendTimeoutMs }: KafkaProducerOptions): number {
  return Math.ceil(sendTimeoutMs / 3)
}

function clientConfig(options: KafkaProducerOptions): KafkaConfig {
  const { kafka } = options
  const requestTimeout = requestTimeoutMs(options)
  return {
    clientId: kafka.clientId,
    ...kafkaAddress(kafka),
    connectionTimeout: Math.min(connectTimeoutMs, requestTimeout),
    authenticationTimeout: requestTimeout,
    requestTimeout,
    // 0.1 + 0.2 + 0.4 + 0.8 + 1 s: longer than a leader takes to move in a rolling restart. A longer
    // outage is the relay's to wait for, with a producer that has forgotten it.
    retry: { retries: 5, initialRetryTime: 100, multiplier: 2, maxRetryTime: 1_000, factor: 0.2 },
  }
}
