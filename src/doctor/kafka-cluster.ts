/** What Kafka tells of itself and of one topic, asked by a client that is cut off at the end. */

import { Kafka, type Admin, type ConfigResourceTypes } from 'kafkajs'
import type { KafkaOptions } from '../config/config.js'
import { classifyConnectError } from '../outbox/kafka-errors.js'
import { stopIdleTimers } from '../outbox/kafka-idle-timer.js'
import { kafkaAddress } from '../outbox/kafka-address.js'
import { kafkaLogOptions } from '../outbox/kafka-log.js'
import { createKafkaSockets } from '../outbox/kafka-sockets.js'
import { createLogger } from '../telemetry/logger.js'

/** A broker that answers does so in milliseconds; two tries fit into a check's limit. */
const requestTimeoutMs = 4_000
const connectTimeoutMs = 2_000

/** The protocol's number; kafkajs has it as an enum that an ES module can't import by name. */
const topicResource: unknown = 2

export interface TopicPartition {
  readonly partition: number
  /** Broker id; -1 where there is none. */
  readonly leader: number
  readonly replicas: readonly number[]
  /** Those that are up to date. */
  readonly inSync: readonly number[]
}

export interface TopicLook {
  readonly partitions: readonly TopicPartition[]
  /** The topic's settings by name; undefined where this user may not read them. */
  readonly settings: ReadonlyMap<string, string> | undefined
}

export interface Cluster {
  /** Ids of the brokers that are up. */
  brokers(): Promise<readonly number[]>
  /** Undefined where there is no such topic, or it is not this user's to see. */
  topic(name: string): Promise<TopicLook | undefined>
}

/**
 * Runs `work` with a connected client; ends with the signal too.
 *
 * @throws Error whose message says in one line why Kafka could not be asked
 */
export async function withCluster<T>(
  kafka: KafkaOptions,
  signal: AbortSignal,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  stopIdleTimers()
  const sockets = createKafkaSockets({ caFile: kafka.sslCaFile })
  const cut = (): void => sockets.cut()
  signal.addEventListener('abort', cut)
  const admin = createAdmin(kafka, sockets.socketFactory)
  try {
    await admin.connect()
    return await work({
      brokers: async () => (await admin.describeCluster()).brokers.map(({ nodeId }) => nodeId),
      topic: (name) => lookAt(admin, name),
    })
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error })
  } finally {
    signal.removeEventListener('abort', cut)
    cut()
  }
}

function createAdmin(
  kafka: KafkaOptions,
  socketFactory: ReturnType<typeof createKafkaSockets>['socketFactory'],
): Admin {
  const client = new Kafka({
    clientId: kafka.clientId,
    ...kafkaAddress(kafka),
    connectionTimeout: connectTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry: { retries: 1, initialRetryTime: 200 },
    socketFactory,
    // What goes wrong is the finding.
    ...kafkaLogOptions(createLogger({ level: 'silent' })),
  })
  return client.admin()
}

async function lookAt(admin: Admin, name: string): Promise<TopicLook | undefined> {
  let metadata: Awaited<ReturnType<Admin['fetchTopicMetadata']>>
  try {
    metadata = await admin.fetchTopicMetadata({ topics: [name] })
  } catch (error) {
    if (/^(UNKNOWN_TOPIC_OR_PARTITION|TOPIC_AUTHORIZATION_FAILED)\b/.test(reasonOf(error)))
      return undefined
    throw error
  }
  const partitions = metadata.topics[0]?.partitions.map((partition) => ({
    partition: partition.partitionId,
    leader: partition.leader,
    replicas: partition.replicas,
    inSync: partition.isr,
  }))
  return partitions && { partitions, settings: await settingsOf(admin, name) }
}

async function settingsOf(
  admin: Admin,
  name: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: topicResource as ConfigResourceTypes, name }],
    })
    const entries = resources[0]?.configEntries ?? []
    return new Map(entries.map(({ configName, configValue }) => [configName, configValue]))
  } catch (error) {
    if (/AUTHORIZATION_FAILED\b/.test(reasonOf(error))) return undefined
    throw error
  }
}

function reasonOf(error: unknown): string {
  return classifyConnectError(error).reason
}
