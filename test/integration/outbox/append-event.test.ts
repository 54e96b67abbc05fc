/** What lands in the outbox, whoever writes it: the service, or the messenger by the snippet. */

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { useTestDatabase } from '../../support/test-database.js'
import { appendEvent } from './relay-fixtures.js'

const database = useTestDatabase()

const event = {
  topic: 'pin.messenger.deal-chat-status-changed.v1',
  dealId: '3F2504E0-4F89-41D3-9A0C-0305E82C3301',
  chatId: '6FA459EA-EE8A-4CA4-894E-DB77E160355E',
  status: 'Ready' as const,
  correlationId: '01923c1e-0000-7000-8000-000000000001',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
}

/** All columns of one row as text, so that nothing is lost on the way. */
async function rowOf(id: string): Promise<Record<string, string | null>> {
  const [row] = await database().query<{ row: Record<string, string | null> }>(
    `select jsonb_object_agg(key, value) as row
     from (select (jsonb_each_text(to_jsonb(e) || jsonb_build_object(
       'payload', e.payload::text,
       'occurred_at', to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
     ))).* from messenger.outbox_events e where id = $1) columns`,
    [id],
  )
  if (row === undefined) throw new Error(`no event ${id}`)
  return row.row
}

describe('an event in the outbox', () => {
  test('is byte for byte what the contract says, its time the same everywhere', async () => {
    const { id } = await appendEvent(database(), event)
    const row = await rowOf(id)
    const occurredAt = String(row['occurred_at'])
    expect(occurredAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}000Z$/)
    expect(row['payload']).toBe(
      '{"DealId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301",' +
        '"ChatId":"6fa459ea-ee8a-4ca4-894e-db77e160355e",' +
        `"Status":"Ready","OccurredAt":"${occurredAt.replace('000Z', 'Z')}"}`,
    )
    expect(row['id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/)
    expect(row).toMatchObject({
      aggregate_type: 'DealChatProvision',
      aggregate_id: event.dealId.toLowerCase(),
      type: 'DealChatStatusChanged',
      topic: event.topic,
      contract_version: '1',
      spec_version: '1.0',
      correlation_id: event.correlationId,
      traceparent: event.traceparent,
      attempts: '0',
    })
  })

  test('says null where there is no chat', async () => {
    const { id } = await appendEvent(database(), { ...event, chatId: null, status: 'Failed' })
    expect((await rowOf(id))['payload']).toContain('"ChatId":null,"Status":"Failed"')
  })

  test.each([
    ['an unknown status', { status: 'Done' as 'Ready' }],
    ['Ready without a chat', { chatId: null }],
    ['a topic that Kafka does not allow', { topic: 'deals and chats' }],
    ['a traceparent that is none', { traceparent: 'abc' }],
  ])('%s fails the transaction', async (_, fault) => {
    const dealId = randomUUID()
    await expect(appendEvent(database(), { ...event, dealId, ...fault })).rejects.toThrow(
      'breaks its contract',
    )
    const rows = await database().query(
      'select from messenger.outbox_events where aggregate_id = $1',
      [dealId],
    )
    expect(rows).toHaveLength(0)
  })
})

describe('contracts/produce-event.sql', () => {
  const volatile = ['id', 'seq', 'payload', 'occurred_at', 'next_attempt_at']

  test.each([
    ['with all values', event],
    [
      'without',
      { ...event, chatId: null, status: 'Failed', correlationId: null, traceparent: null },
    ],
  ] as const)('writes the same row, %s', async (_, written) => {
    const text = await readFile(new URL('../../../contracts/produce-event.sql', import.meta.url))
    const [inserted] = await database().query<{ id: string }>(text.toString(), [
      written.dealId,
      written.chatId,
      written.status,
      written.correlationId,
      written.traceparent,
      written.topic,
    ])
    const ours = await rowOf((await appendEvent(database(), written)).id)
    const theirs = await rowOf(String(inserted?.id))
    const stable = (row: Record<string, string | null>): object =>
      Object.fromEntries(Object.entries(row).filter(([column]) => !volatile.includes(column)))
    expect(stable(theirs)).toEqual(stable(ours))
    const timeless = (row: Record<string, string | null>): string =>
      String(row['payload']).replace(/"OccurredAt":"[^"]+"/, '')
    expect(timeless(theirs)).toBe(timeless(ours))
    expect(theirs['payload']).toContain(String(theirs['occurred_at']).replace('000Z', 'Z'))
    expect(theirs['id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/)
    const idMilliseconds = Number.parseInt(String(theirs['id']).replace('-', '').slice(0, 12), 16)
    expect(idMilliseconds).toBe(Date.parse(String(theirs['occurred_at'])))
  })
})
