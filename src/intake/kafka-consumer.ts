/** The kafkajs consumer as the intake wants it: its time limits, and no restarts of its own. */

import { Kafka, type Consumer, type ISocketFactory } from 'kafkajs'
import type { KafkaOptions } from '../config/config.js'
import { kafkaAddress } from '../outbox/kafka-address.js'
import { kafkaLogOptions, type DebugLog } from '../outbox/kafka-log.js'

export interface ConsumerOptions {
  readonly kafka: KafkaOptions
  readonly groupId: string
  readonly log: DebugLog
}

const connectTimeoutMs = 3_000
/** A frozen broker is given up after this; a living one answers in milliseconds. */
const requestTimeoutMs = 10_000
/**
 * How long a broker may hold an empty fetch back. A stop waits for it, so a second; longer would
 * save one small request per broker and second.
 */
const longestFetchMs = 1_000
/** Five lost heartbeats. So long do the partitions of a member that was killed lie idle. */
const sessionTimeoutMs = 15_000
export const heartbeatMs = 3_000
/** Messages under way may take this long to end when the group changes. */
const rebalanceTimeoutMs = 60_000
/**
 * 0.1 + 0.2 + 0.4 + 0.8 + 1 s: longer than a leader takes to move in a rolling restart. A longer
 * outage is waited for with a new client, which looks for the brokers afresh.
 */
const retry = {
  retries: 5,
  initialRetryTime: 100,
  multiplier: 2,
  maxRetryTime: 1_000,
  factor: 0.2,
}

export function createConsumer(
  { kafka, groupId, log }: ConsumerOptions,
  socketFactory: ISocketFactory,
): Consumer {
  const client = new Kafka({
    clientId: kafka.clientId,
    ...kafkaAddress(kafka),
    connectionTimeout: connectTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry,
    socketFactory,
    ...kafkaLogOptions(log),
  })
  return client.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: longestFetchMs,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    retry: { ...retry, restartOnFailure: () => Promise.resolve(false) },
  })
}
