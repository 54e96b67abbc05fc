/** P4, P5: rows that nobody can send, whatever makes them so, hold up nothing but themselves. */

import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { selectDueEvents } from '../../../src/outbox/due-events.js'
import { StdoutPublisher } from '../../../src/outbox/stdout-publisher.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { appendEvent, createTestRelay, insertRaw, outboxState } from './relay-fixtures.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const twoMegabytes = 2 * 1024 * 1024

function payloadOf(bytes: number): string {
  return `{"DealId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301",${' '.repeat(bytes)}"Status":"Failed","OccurredAt":"2026-01-02T03:04:05Z"}`
}

test.each([
  // A broker cuts the connection of a request that is far too large, which looks like an outage.
  ['a huge payload', { payload: payloadOf(twoMegabytes) }, 'MESSAGE_TOO_LARGE'],
  ['a huge aggregate type', { aggregate_type: 'x'.repeat(twoMegabytes) }, 'AGGREGATE_TYPE_UNKNOWN'],
  ['a huge type', { type: 'x'.repeat(twoMegabytes) }, 'TYPE_UNKNOWN: xxx'],
  ['a time without end', { occurred_at: 'infinity' }, 'OCCURRED_AT_INVALID'],
  ['a time without beginning', { occurred_at: '-infinity' }, 'OCCURRED_AT_INVALID'],
  ['as many attempts as can be', { type: 'x', attempts: 2 ** 31 - 1 }, 'TYPE_UNKNOWN: x'],
])('%s parks its row with a reason, the rest is published', async (_, fault, reason) => {
  await database().query('truncate messenger.outbox_events')
  const before = await appendEvent(database(), { topic })
  const hopeless = await insertRaw(database(), { topic, ...fault })
  const behind = await appendEvent(database(), { topic })
  const stream = new PassThrough()
  const { relay, said, counted } = createTestRelay(database(), {
    topic,
    publisher: new StdoutPublisher(stream),
    maxAttempts: 1,
  })
  relay.start()
  await waitFor('the others', () => counted.published === 2)
  await waitFor('the parking', () => counted.parked === 1)
  await relay.stop()
  stream.end()
  const ids = (await text(stream))
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { headers } = JSON.parse(line) as { headers: Record<string, string> }
      return headers['ce_id']
    })
  expect(ids).toEqual([before.id, behind.id])
  expect(await outboxState(database(), hopeless)).toMatchObject({
    state: 'parked',
    lastError: expect.stringContaining(reason) as string,
  })
  const [line] = said('outbox parked')
  expect(String(line?.['reason'])).toContain(reason)
  expect(JSON.stringify(line).length).toBeLessThan(1_000)
})

test('large events come a few at a time, the first always, however many are due', async () => {
  await database().query('truncate messenger.outbox_events')
  for (let n = 0; n < 20; n += 1) {
    await insertRaw(database(), { topic, payload: payloadOf(1_000_000) })
  }
  const batch = await selectDueEvents(database().admin, { limit: 500, exceptTopics: [] })
  expect(batch.length).toBeGreaterThan(0)
  expect(batch.length).toBeLessThan(20)
  const rest = await database().query<{ id: string }>(
    'select id from messenger.outbox_events order by seq',
  )
  expect(batch.map(({ id }) => id)).toEqual(rest.slice(0, batch.length).map(({ id }) => id))
})
