/**
 * Beside the relay: a bare kafkajs producer, which is the limit, and the loop that one writes by hand,
 * select, send, update. Both send what the relay sends, with the same settings.
 */

import { performance } from 'node:perf_hooks'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import pg from 'pg'
import { toOutgoingMessage } from '../../dist/outbox/outbox-message.js'
import { selectDueEvents } from '../../dist/outbox/due-events.js'

const batchSize = 500

export async function connectProducer(brokers) {
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  return producer
}

/** A message as this service sends it, in kafkajs's form. */
export const forKafkajs = ({ key, value, headers, timestampMs }) => ({
  key,
  value,
  headers,
  timestamp: String(timestampMs),
})

/** The messages are in memory already. */
export async function bareProducer({ db, topic, events }) {
  const due = await selectDueEvents(db, { limit: events, exceptTopics: [] })
  const messages = due.map((row) => forKafkajs(toOutgoingMessage(row)))
  const producer = await connectProducer(topic.brokers)
  const start = performance.now()
  for (let from = 0; from < events; from += batchSize) {
    await producer.send({
      topic: topic.name,
      acks: -1,
      messages: messages.slice(from, from + batchSize),
    })
  }
  const ms = performance.now() - start
  await producer.disconnect()
  return ms
}

const selectText = `
  select id, seq::text, aggregate_type, aggregate_id, type, topic, contract_version, spec_version,
    payload::text, correlation_id, traceparent, occurred_at
  from messenger.outbox_events where published_at is null order by seq limit $1`
const updateText =
  'update messenger.outbox_events set published_at = now() where id = any ($1::uuid[])'

export async function plainLoop({ url, topic }) {
  const client = new pg.Client(url)
  await client.connect()
  const producer = await connectProducer(topic.brokers)
  const start = performance.now()
  for (;;) {
    const { rows } = await client.query({ name: 'select', text: selectText, values: [batchSize] })
    if (rows.length === 0) break
    await producer.send({ topic: topic.name, acks: -1, messages: rows.map(messageOf) })
    await client.query({ name: 'update', text: updateText, values: [rows.map(({ id }) => id)] })
  }
  const ms = performance.now() - start
  await producer.disconnect()
  await client.end()
  return ms
}

/** By hand, without a look at what is in the row. */
function messageOf(row) {
  return {
    key: row.aggregate_id,
    value: row.payload,
    timestamp: String(row.occurred_at.getTime()),
    headers: {
      ce_specversion: row.spec_version,
      ce_id: row.id,
      ce_type: row.type,
      ce_source: '/messenger/chat-provision-retry',
      ce_time: row.occurred_at.toISOString(),
      ce_subject: row.aggregate_id,
      ce_sequence: row.seq,
      'content-type': 'application/json',
      'contract-version': String(row.contract_version),
      'aggregate-type': row.aggregate_type,
      'aggregate-id': row.aggregate_id,
      'correlation-id': row.correlation_id,
    },
  }
}
