/** A Kafka broker in a container, of the image that docker-compose.yml names. */

import { Kafka, logLevel } from 'kafkajs'
import { GenericContainer } from 'testcontainers'
import { brokerSettings, kafkaImage } from '../../src/demo/docker-kafka.js'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { startContainer } from './container-process.js'
import type { TestKafka, TestKafkaOptions } from './servers.js'

const serverPort = 9092
const probeTimeoutMs = 2_000

/** As an embedded node has them, for the reasons given there. */
const testSettings = {
  KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '1',
  KAFKA_BROKER_SESSION_TIMEOUT_MS: '4000',
  KAFKA_BROKER_HEARTBEAT_INTERVAL_MS: '500',
  KAFKA_LOG_RETENTION_MS: '-1',
}

export async function startContainerKafka({ advertise }: TestKafkaOptions): Promise<TestKafka> {
  const port = await findFreePort()
  const advertisedPort = (await advertise?.(port)) ?? port
  const broker = `127.0.0.1:${advertisedPort}`
  const node = await startContainer(
    new GenericContainer(kafkaImage).withEnvironment({
      ...brokerSettings(advertisedPort),
      ...testSettings,
    }),
    { container: serverPort, host: port },
    () => serves(broker),
  )
  return { brokers: [broker], nodes: [node], stop: () => node.stop() }
}

/** The port opens before the node is a broker: only the cluster's own word counts. */
async function serves(broker: string): Promise<boolean> {
  const admin = new Kafka({
    brokers: [broker],
    connectionTimeout: probeTimeoutMs,
    requestTimeout: probeTimeoutMs,
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
  }).admin()
  try {
    await admin.connect()
    return (await admin.describeCluster()).brokers.length > 0
  } finally {
    await admin.disconnect()
  }
}
