/** What the relay makes of an event today is, byte for byte, what a release has promised. */

import { readdir, readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { selectDueEvents } from '../../src/outbox/due-events.js'
import { toOutgoingMessage } from '../../src/outbox/outbox-message.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const released = new URL('../../contracts/released/', import.meta.url)

interface Golden {
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly value: Readonly<Record<string, string | null>>
}

/** The event that was written when the message was sent. */
async function insert({ key, headers, value }: Golden): Promise<void> {
  await database().query('truncate messenger.outbox_events')
  await sql`
    insert into messenger.outbox_events
      (id, seq, aggregate_type, aggregate_id, type, topic, contract_version, spec_version, payload,
       correlation_id, traceparent, occurred_at)
    overriding system value
    values (
      ${headers['ce_id']}, ${headers['ce_sequence']}, ${headers['aggregate-type']}, ${key},
      ${headers['ce_type']}, 'golden', ${headers['contract-version']}, ${headers['ce_specversion']},
      ${JSON.stringify(value)}, ${headers['correlation-id'] ?? null},
      ${headers['traceparent'] ?? null}, ${headers['ce_time']}
    )
  `.execute(database().admin)
}

describe.each(await readdir(released))('release %s', async (version) => {
  const golden = new URL(`${version}/golden/`, released)

  test.each(await readdir(golden))('%s', async (name) => {
    const message = JSON.parse(await readFile(new URL(name, golden), 'utf8')) as Golden
    await insert(message)
    const [row] = await selectDueEvents(database().admin, { limit: 1, exceptTopics: [] })
    if (row === undefined) throw new Error('the event is not due')
    const sent = toOutgoingMessage(row)
    expect(sent.key).toBe(message.key)
    expect(sent.value).toBe(JSON.stringify(message.value))
    expect(sent.timestampMs).toBe(Date.parse(String(message.value['OccurredAt'])))
    // A later release may send more headers, in their place among these.
    const names = Object.keys(sent.headers).filter((header) => header in message.headers)
    expect(names).toEqual(Object.keys(message.headers))
    expect(sent.headers).toMatchObject(message.headers)
  })
})
