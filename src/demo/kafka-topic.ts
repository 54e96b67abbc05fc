/** The demo's side of Kafka: its topic, and a consumer of it as crm has one. */

import { randomBytes } from 'node:crypto'
import { Kafka, logLevel, type IHeaders } from 'kafkajs'
import type { KafkaOptions } from '../config/config.js'
import { kafkaAddress } from '../outbox/kafka-address.js'
import { createKafkaSockets } from '../outbox/kafka-sockets.js'
import { pause, within } from '../timers.js'
import type { CrmReader } from './crm-reader.js'

/** A broker that starts refuses connections, so a try costs little. */
const probeIntervalMs = 250
/** A try that takes longer has met a broker that is not ready, or none. */
const probeTimeoutMs = 2_000
/** More than one, so that order per deal is not simply the order of the topic. */
const partitions = 3

/** A client that gives up soon, for asking whether a broker is there; `cut` ends it at once. */
function connect(options: KafkaOptions, retries: number): { kafka: Kafka; cut: () => void } {
  const sockets = createKafkaSockets({ caFile: options.sslCaFile })
  const kafka = new Kafka({
    clientId: 'chat-provision-retry-demo',
    ...kafkaAddress(options),
    socketFactory: sockets.socketFactory,
    connectionTimeout: probeTimeoutMs,
    retry: { retries },
    // It logs an ERROR for answers that it goes on to retry.
    logLevel: logLevel.NOTHING,
  })
  return { kafka, cut: () => sockets.cut() }
}

/**
 * Returns once the topic is there, made where it was missing.
 *
 * @throws what the last try threw, when `patienceMs` has passed
 */
export async function ensureTopic(
  options: KafkaOptions,
  topic: string,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const { kafka, cut } = connect(options, 0)
    const timer = setTimeout(cut, Math.max(probeTimeoutMs, deadline - performance.now()))
    signal.addEventListener('abort', cut)
    try {
      const admin = kafka.admin()
      await admin.connect()
      const { topics } = await admin.fetchTopicMetadata()
      if (!topics.some(({ name }) => name === topic)) {
        await admin.createTopics({ topics: [{ topic, numPartitions: partitions }] })
      }
      await admin.fetchTopicOffsets(topic)
      await admin.disconnect()
      return
    } catch (error) {
      signal.throwIfAborted()
      if (performance.now() + probeIntervalMs >= deadline) throw error
      await pause(probeIntervalMs, signal)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cut)
      cut()
    }
  }
}

export interface TopicConsumer {
  /** Why it reads no more, where it has given up by itself. */
  readonly failure: Error | undefined
  /** Leaves the group and removes it from the cluster. */
  stop(): Promise<void>
}

/** Coordinators load for some seconds on a broker that has just started. */
const consumerRetries = 10
/** A broker that is gone is not waited for at the end. */
const goodbyeMs = 2_000

/** Reads the topic from its beginning, in a consumer group of its own. */
export async function consumeTopic(
  options: KafkaOptions,
  topic: string,
  reader: CrmReader,
): Promise<TopicConsumer> {
  const { kafka, cut } = connect(options, consumerRetries)
  const groupId = `demo.crm.${randomBytes(6).toString('hex')}`
  let stopped = false
  let failure: Error | undefined
  const consumer = kafka.consumer({
    groupId,
    // A good-bye waits for the fetch under way; five seconds, as delivered, is long for that.
    maxWaitTimeInMs: 500,
    // After the stop it must not come back by itself and keep the process from ending.
    retry: { retries: consumerRetries, restartOnFailure: () => Promise.resolve(!stopped) },
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) failure = payload.error
  })
  const stop = async (): Promise<void> => {
    stopped = true
    const leave = async (): Promise<void> => {
      await consumer.disconnect()
      const admin = kafka.admin()
      await admin.connect()
      await admin.deleteGroups([groupId])
      await admin.disconnect()
    }
    // What can't be tidied up expires by itself.
    await within(
      leave().catch(() => undefined),
      goodbyeMs,
    )
    cut()
  }
  try {
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await consumer.run({
      eachMessage: ({ message }) => {
        reader.take({
          key: message.key?.toString() ?? null,
          headers: headersOf(message.headers),
          value: message.value?.toString() ?? null,
        })
        return Promise.resolve()
      },
    })
    return {
      get failure() {
        return failure
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function headersOf(headers: IHeaders | undefined): Record<string, string> {
  const entries = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return Object.fromEntries(entries)
}
