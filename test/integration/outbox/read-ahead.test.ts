/** What the relay does with the batch that it read while the one before was with the broker. */

import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import type { OutgoingMessage, Publisher, PublishOutcome } from '../../../src/outbox/publisher.js'
import { skipEvent } from '../../../src/outbox/operator-actions.js'
import { OutboxRelay } from '../../../src/outbox/relay.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { appendEvent, createTestRelay, outboxState, type SeededEvent } from './relay-fixtures.js'
import { forgetStatements, statementsOf } from './relay-statements.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const batchSize = 3

interface Send {
  readonly ids: readonly (string | undefined)[]
  readonly answer: (outcome: PublishOutcome) => void
}

/** Takes each send and answers when the test says so. */
function heldPublisher(): Publisher & { readonly sends: Send[] } {
  const sends: Send[] = []
  return {
    sends,
    publish: (_topic, messages: readonly OutgoingMessage[]) => {
      if (messages.length === 0) return Promise.resolve({ kind: 'published' })
      return new Promise((answer) => {
        sends.push({ ids: messages.map(({ headers }) => headers['ce_id']), answer })
      })
    },
  }
}

const published = { kind: 'published' } as const
const rejected = { kind: 'rejected', reason: 'RECORD_INVALID' } as const

async function append(count: number, dealId?: string): Promise<SeededEvent[]> {
  const events: SeededEvent[] = []
  for (let n = 0; n < count; n += 1) {
    events.push(await appendEvent(database(), { topic, dealId: dealId ?? randomUUID() }))
  }
  return events
}

const idsOf = (events: readonly SeededEvent[]): string[] => events.map(({ id }) => id)

/** The nth send, when it is there. */
async function sent(publisher: { readonly sends: Send[] }, n: number): Promise<Send> {
  await waitFor(`send ${n}`, () => publisher.sends.length >= n)
  const send = publisher.sends[n - 1]
  if (send === undefined) throw new Error('no such send')
  return send
}

const looks = (relay: ReturnType<typeof createTestRelay>): number =>
  statementsOf(relay).filter((text) => text.includes('order by e.seq')).length

/** A batch is with the broker, and the one behind it was read meanwhile. */
async function readAhead() {
  const events = await append(2 * batchSize)
  const publisher = heldPublisher()
  const relay = createTestRelay(database(), { topic, publisher, batchSize })
  relay.relay.start()
  const first = await sent(publisher, 1)
  await waitFor('the look ahead', () => looks(relay) === 2)
  return { events, publisher, relay, first }
}

async function bothAreSentFromTheFirst({
  events,
  publisher,
  relay,
}: Awaited<ReturnType<typeof readAhead>>): Promise<void> {
  const again = await sent(publisher, 2)
  expect(again.ids).toEqual(idsOf(events.slice(0, batchSize)))
  again.answer(published)
  const second = await sent(publisher, 3)
  expect(second.ids).toEqual(idsOf(events.slice(batchSize)))
  second.answer(published)
  await waitFor('all', () => relay.counted.published === events.length)
}

beforeEach(async () => {
  await database().query('truncate messenger.outbox_events')
  forgetStatements()
})

test('it is read in mid-send, sent before the first is marked, and each is marked by one update', async () => {
  const { events, publisher, relay, first } = await readAhead()
  expect(first.ids).toEqual(idsOf(events.slice(0, batchSize)))
  first.answer(published)
  const second = await sent(publisher, 2)
  expect(second.ids).toEqual(idsOf(events.slice(batchSize)))
  expect(publisher.sends).toHaveLength(2)
  await waitFor('the marks of the first', () => relay.counted.published === batchSize)
  second.answer(published)
  await waitFor('all', () => relay.counted.published === events.length)
  const marks = statementsOf(relay).filter((text) => text.includes('set published_at'))
  expect(marks).toHaveLength(2)
})

test('a deal’s event in it waits where the one before could not be sent', async () => {
  const dealId = randomUUID()
  const [bad] = await append(1, dealId)
  await append(batchSize - 1)
  const [behind] = await append(1, dealId)
  const others = await append(batchSize - 1)
  const publisher = heldPublisher()
  const relay = createTestRelay(database(), { topic, publisher, batchSize })
  relay.relay.start()
  // Refused as a whole, then by halves, until the event at fault is alone.
  for (let n = 1; relay.said('outbox event failed').length === 0; n += 1) {
    const { ids, answer } = await sent(publisher, n)
    answer(ids.includes(bad?.id) ? rejected : published)
    await waitFor('what follows', () => {
      return publisher.sends.length > n || relay.said('outbox event failed').length > 0
    })
  }
  for (let n = 1; relay.counted.published < 2 * (batchSize - 1); n += 1) {
    const { answer } = await sent(publisher, n)
    answer(published)
    await waitFor('what follows', () => {
      return publisher.sends.length > n || relay.counted.published === 2 * (batchSize - 1)
    })
  }
  const sentIds = publisher.sends.flatMap(({ ids }) => ids)
  expect(sentIds).toEqual(expect.arrayContaining(idsOf(others)))
  expect(sentIds).not.toContain(behind?.id)
  expect(await outboxState(database(), String(behind?.id))).toMatchObject({
    state: 'pending',
    attempts: 0,
  })
  await relay.relay.stop()
})

test('nothing of it is sent where nobody knows what became of the one before', async () => {
  const ahead = await readAhead()
  ahead.first.answer({ kind: 'unknown', reason: 'no answer' })
  await bothAreSentFromTheFirst(ahead)
})

test('it is read again after a slow send: what an operator skipped meanwhile is not sent', async () => {
  const events = await append(2 * batchSize)
  const skipped = String(events[batchSize]?.id)
  const publisher = heldPublisher()
  const { options, dependencies, ...relay } = createTestRelay(database(), {
    topic,
    publisher,
    batchSize,
  })
  const clock = { ms: 0 }
  const slow = new OutboxRelay(options, { ...dependencies, now: () => clock.ms })
  slow.start()
  const first = await sent(publisher, 1)
  await waitFor('the look ahead', () => looks({ options, dependencies, ...relay }) === 2)
  await database()
    .admin.transaction()
    .execute((trx) => skipEvent(trx, skipped))
  clock.ms = 10_000
  first.answer(published)
  const second = await sent(publisher, 2)
  expect(second.ids).toEqual(idsOf(events.slice(batchSize + 1)))
  second.answer(published)
  await waitFor('the rest', () => relay.counted.published === events.length - 1)
  await slow.stop()
})

test('a session that is lost between two sends: what was acknowledged is sent again, in order', async () => {
  const ahead = await readAhead()
  await database().query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and application_name = $1`,
    [ahead.relay.options.applicationName],
  )
  ahead.first.answer(published)
  await bothAreSentFromTheFirst(ahead)
  expect(ahead.relay.counted.staleMarks).toBe(0)
})
