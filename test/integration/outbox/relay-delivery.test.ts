/** What the relay delivers: bytes, order, isolation of what can't go out. */

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createTopic, describeWithKafka, readTopic } from '../../support/kafka.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { insertRaw, outboxState, useRelayBench } from './relay-fixtures.js'

const database = useTestDatabase()

describeWithKafka('the relay', () => {
  const bench = useRelayBench(database)
  const { startRelay, append, isPublished } = bench

  test('sends key, value, headers and timestamp byte for byte as the contract says', async () => {
    const chatId = randomUUID()
    const correlationId = randomUUID()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const event = await append({
      chatId,
      status: 'Ready',
      correlationId,
      traceparent,
    })
    await startRelay()
    await waitFor('the event', () => isPublished(event.id))
    const { seq } = await outboxState(database(), event.id)
    const [row] = await database().query<{ payload: string; at: string }>(
      `select payload::text, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') as at
       from messenger.outbox_events`,
    )
    const occurredAt = String(row?.at)
    const [record, ...others] = await readTopic(bench.topic)
    expect(others).toEqual([])
    expect(record?.key).toBe(event.dealId)
    expect(String(record?.value)).toBe(
      `{"DealId":"${event.dealId}","ChatId":"${chatId}","Status":"Ready","OccurredAt":"${occurredAt}Z"}`,
    )
    expect(Object.entries(record?.headers ?? {})).toEqual([
      ['ce_specversion', '1.0'],
      ['ce_id', event.id],
      ['ce_type', 'DealChatStatusChanged'],
      ['ce_source', '/messenger/chat-provision-retry'],
      ['ce_time', `${occurredAt}000Z`],
      ['ce_subject', event.dealId],
      ['ce_sequence', seq],
      ['content-type', 'application/json'],
      ['contract-version', '1'],
      ['aggregate-type', 'DealChatProvision'],
      ['aggregate-id', event.dealId],
      ['correlation-id', correlationId],
      ['traceparent', traceparent],
    ])
    expect(record?.timestamp).toBe(String(Date.parse(`${occurredAt}Z`)))
  })

  test('P6: without correlation id and traceparent those headers are absent', async () => {
    const event = await append()
    await insertRaw(database(), { topic: bench.topic, traceparent: 'junk\nx' })
    await startRelay()
    const records = await waitFor('both', async () => {
      const all = await readTopic(bench.topic)
      return all.length === 2 && all
    })
    expect(await isPublished(event.id)).toBe(true)
    for (const { headers } of records) {
      expect(Object.keys(headers)).not.toContain('traceparent')
      expect(Object.keys(headers)).not.toContain('correlation-id')
    }
  })

  test('P4: an event that can’t be sent is parked, the others flow', async () => {
    bench.topic = await createTopic({ config: { 'max.message.bytes': '5000' } })
    const dealId = randomUUID()
    const large = await insertRaw(database(), {
      topic: bench.topic,
      aggregate_id: dealId,
      payload: `{"DealId":"${dealId}",${' '.repeat(6_000)}"Status":"Failed","OccurredAt":"2026-01-02T03:04:05Z"}`,
    })
    const others = await Promise.all(Array.from({ length: 20 }, () => append()))
    const { said, counted } = await startRelay({ maxAttempts: 2 })
    for (const { id } of others) await waitFor('the others', () => isPublished(id))
    await waitFor(
      'the parking',
      async () => (await outboxState(database(), large)).state === 'parked',
    )
    expect(await outboxState(database(), large)).toMatchObject({
      attempts: 2,
      lastError: expect.stringContaining('MESSAGE_TOO_LARGE') as string,
    })
    expect(said('outbox parked')).toMatchObject([{ eventId: large, attempts: 2 }])
    expect(counted).toEqual({ published: 20, staleMarks: 0, parked: 1 })
    expect(new Set((await readTopic(bench.topic)).map(({ key }) => key)).size).toBe(20)
  })

  test.each([
    ['an unknown type', { type: 'DealChatRenamed' }, 'TYPE_UNKNOWN: DealChatRenamed'],
    ['an unknown version', { contract_version: 9 }, 'CONTRACT_VERSION_UNKNOWN: 9'],
    ['a broken payload', { payload: '{"Status":1}' }, 'PAYLOAD_INVALID'],
    ['a payload that is no object', { payload: '"\\ud800"' }, 'PAYLOAD_INVALID'],
    ['a payload of another deal', { aggregate_id: randomUUID() }, 'DEAL_MISMATCH'],
    ['another version of CloudEvents', { spec_version: '2.0' }, 'SPEC_VERSION_UNKNOWN: 2.0'],
    ['no version of CloudEvents', { spec_version: '' }, 'SPEC_VERSION_UNKNOWN'],
    ['another aggregate', { aggregate_type: 'Deal' }, 'AGGREGATE_TYPE_UNKNOWN: Deal'],
    ['a topic that can’t be', { topic: 'no topic' }, 'TOPIC_INVALID'],
  ])('P5: %s parks with a reason, the rest is published', async (_, fault, reason) => {
    const unreadable = await insertRaw(database(), { topic: bench.topic, ...fault })
    const good = await append()
    await startRelay({ maxAttempts: 1 })
    await waitFor('the good one', () => isPublished(good.id))
    await waitFor(
      'the parking',
      async () => (await outboxState(database(), unreadable)).state === 'parked',
    )
    expect((await outboxState(database(), unreadable)).lastError).toContain(reason)
  })

  test('P7: a batch too large in sum is split, all are published', async () => {
    bench.topic = await createTopic({ config: { 'max.message.bytes': '4000' } })
    const events = await Promise.all(Array.from({ length: 64 }, () => append()))
    const { counted } = await startRelay()
    await waitFor('all', () => counted.published === 64)
    for (const { id } of events) {
      expect(await outboxState(database(), id)).toMatchObject({ state: 'published', attempts: 0 })
    }
  })
})
