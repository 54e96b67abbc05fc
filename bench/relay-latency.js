/**
 * From an event's commit to Kafka's acknowledgement, for what this process wrote, beside a bare
 * kafkajs send in the same run; servers of its own. Prints a table, and JSON as the last line.
 */

import { randomUUID } from 'node:crypto'
import { Kafka, Partitioners, logLevel } from 'kafkajs'
import { startEmbeddedPostgres } from '../dist/demo/servers/embedded-postgres.js'
import { startLocalKafka } from '../dist/demo/servers/local-kafka.js'
import { appendDealChatStatusChanged } from '../dist/outbox/append-event.js'
import { KafkaPublisher } from '../dist/outbox/kafka-publisher.js'
import process from 'node:process'
import { performance } from 'node:perf_hooks'
import { OutboxRelay } from '../dist/outbox/relay.js'
import { createDatabase } from '../dist/postgres/connect.js'
import { migrateUp } from '../dist/postgres/migrator.js'
import { createLogger } from '../dist/telemetry/logger.js'

/** A p99 of a thousand rests on ten values. */
const measured = 1_000
/** Connections, caches and the compiler; not counted. */
const warmUp = 100
const topic = 'bench.relay-latency'
const log = createLogger({ level: 'silent' })
const ignore = () => undefined

const postgres = await startEmbeddedPostgres()
const kafka = await startLocalKafka()
const db = createDatabase({
  connectionString: postgres.url,
  applicationName: 'bench',
  max: 2,
  onConnectionLost: ignore,
})
await migrateUp(db, ['service'])
const client = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING })
const admin = client.admin()
await admin.connect()
await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 3 }] })
await admin.disconnect()

const rows = { 'bare kafkajs send': summary(await bareSends()), relay: summary(await relayed()) }
await db.destroy()
await kafka.stop()
await postgres.stop()
const table = Object.entries(rows).map(
  ([name, { p50, p99 }]) =>
    `${name.padEnd(20)} ${p50.toFixed(2).padStart(8)} ${p99.toFixed(2).padStart(8)}`,
)
process.stdout.write(`${'milliseconds'.padEnd(20)} ${'p50'.padStart(8)} ${'p99'.padStart(8)}\n`)
process.stdout.write(`${table.join('\n')}\n${JSON.stringify({ events: measured, ...rows })}\n`)

/** One at a time, as the relay sends them: what Kafka and kafkajs alone cost. */
async function bareSends() {
  const producer = client.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  const times = []
  for (let n = 0; n < warmUp + measured; n += 1) {
    const key = randomUUID()
    const value = `{"DealId":"${key}","ChatId":null,"Status":"Failed","OccurredAt":"2026-01-02T03:04:05.678Z"}`
    const start = performance.now()
    await producer.send({ topic, acks: -1, messages: [{ key, value }] })
    times.push(performance.now() - start)
  }
  await producer.disconnect()
  return times.slice(warmUp)
}

/** Each event committed, then the relay woken, as the job does; the next after its acknowledgement. */
async function relayed() {
  const inner = new KafkaPublisher({
    kafka: {
      brokers: kafka.brokers,
      clientId: 'bench',
      ssl: false,
      sslCaFile: undefined,
      sasl: undefined,
    },
    sendTimeoutMs: 15_000,
    log,
  })
  let acknowledged
  const publisher = {
    publish: async (to, messages, signal) => {
      const outcome = await inner.publish(to, messages, signal)
      if (outcome.kind === 'published' && messages.length > 0) acknowledged?.()
      return outcome
    },
  }
  const relay = new OutboxRelay(
    {
      connectionString: postgres.url,
      applicationName: 'bench relay',
      topic,
      pollIntervalMs: 1_000,
      batchSize: 500,
      maxAttempts: 10,
      sendTimeoutMs: 15_000,
      retentionMs: 604_800_000,
    },
    {
      publisher,
      metrics: { published: ignore, staleMarks: ignore, parked: ignore },
      log,
      random: Math.random,
      now: () => performance.now(),
    },
  )
  relay.start()
  const times = []
  for (let n = 0; n < warmUp + measured; n += 1) {
    const acknowledgement = new Promise((resolve) => (acknowledged = resolve))
    await db.transaction().execute((trx) =>
      appendDealChatStatusChanged(trx, {
        topic,
        dealId: randomUUID(),
        chatId: null,
        status: 'Failed',
        correlationId: null,
        traceparent: null,
      }),
    )
    const committed = performance.now()
    relay.wake()
    await acknowledgement
    times.push(performance.now() - committed)
  }
  await relay.stop()
  await inner.close()
  return times.slice(warmUp)
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
