/**
 * pg-transactional-outbox in its fastest setting for this work: large batches, messages handled in
 * parallel, neither of its two attempt counters kept, its sleep between polls as short as it goes.
 */

import { performance } from 'node:perf_hooks'
import pg from 'pg'
import {
  DatabaseSetup,
  getDisabledLogger,
  initializePollingMessageListener,
} from 'pg-transactional-outbox'
import { connectProducer } from './producers.js'

const batchSize = 50
/** Above the batch, for its listener asks for the next one beside it. */
const connections = batchSize + 5
const setup = {
  outboxOrInbox: 'outbox',
  schema: 'public',
  table: 'outbox',
  listenerRole: 'postgres',
  handlerRole: 'postgres',
  nextMessagesName: 'next_outbox_messages',
  nextMessagesSchema: 'public',
}
const settings = {
  dbSchema: 'public',
  dbTable: 'outbox',
  nextMessagesFunctionSchema: 'public',
  nextMessagesFunctionName: 'next_outbox_messages',
  nextMessagesBatchSize: batchSize,
  nextMessagesLockInMs: 1_000,
  nextMessagesPollingIntervalInMs: 1,
  enableMaxAttemptsProtection: false,
  enablePoisonousMessageProtection: false,
}

export async function transactionalOutbox({ url, topic, events }) {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(DatabaseSetup.dropAndCreateTable(setup))
  await client.query(DatabaseSetup.createPollingFunction(setup))
  await client.query(DatabaseSetup.setupPollingIndexes(setup))
  const producer = await connectProducer(topic.brokers)
  let handled = 0
  let tell
  const all = new Promise((resolve) => (tell = resolve))
  const handle = async ({ id, aggregateId, payload }) => {
    const headers = { ce_id: id, ce_subject: aggregateId }
    const value = JSON.stringify(payload)
    await producer.send({
      topic: topic.name,
      acks: -1,
      messages: [{ key: aggregateId, value, headers }],
    })
    handled += 1
    if (handled === events) tell()
  }
  const connection = { connectionString: url, max: connections }
  const [shutdown] = initializePollingMessageListener(
    {
      outboxOrInbox: 'outbox',
      dbListenerConfig: connection,
      dbHandlerConfig: connection,
      settings,
    },
    { handle },
    getDisabledLogger(),
    { batchSizeStrategy: () => Promise.resolve(batchSize) },
  )
  await client.query(insertText, [events])
  const start = performance.now()
  await all
  await settled(client)
  const ms = performance.now() - start
  await shutdown()
  await producer.disconnect()
  await client.end()
  return ms
}

const insertText = `
  insert into public.outbox (id, aggregate_type, aggregate_id, message_type, segment, concurrency, payload)
  select gen_random_uuid(), 'DealChatProvision', deal, 'DealChatStatusChanged', null, 'parallel',
    json_build_object('DealId', deal, 'ChatId', gen_random_uuid(), 'Status', 'Ready',
      'OccurredAt', '2026-01-02T03:04:05.678Z')
  from (select gen_random_uuid()::text as deal from generate_series(1, $1::int)) drawn`

/** The last messages' transactions commit after their handlers. */
async function settled(client) {
  const text = 'select count(*)::int as n from public.outbox where processed_at is null'
  for (;;) {
    const { rows } = await client.query(text)
    if (rows[0].n === 0) return
  }
}
