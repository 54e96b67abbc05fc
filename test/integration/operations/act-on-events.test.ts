/** Replay and skip: which events are taken, what is refused, and the audit of both. */

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import {
  replayEvents,
  skipEvents,
  type EventCommand,
  type OutboxContext,
} from '../../../src/operations/act-on-events.js'
import { listEvents } from '../../../src/operations/list-events.js'
import { outboxStatus } from '../../../src/operations/outbox-status.js'
import { showEvent } from '../../../src/operations/show-event.js'
import { testTopic } from '../../support/job.js'
import { useTestDatabase } from '../../support/test-database.js'
import { appendEvent, outboxState, type SeededEvent } from '../outbox/relay-fixtures.js'
import { anna, auditLines, stopAfter, useOperators } from './operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)

afterEach(() => database().query('truncate messenger.outbox_events'))

const newContext = (): OutboxContext => ({ db: newOperator().db, relay: 'kafka' })
const seed = (dealId?: string) =>
  appendEvent(database(), { topic: testTopic, ...(dealId !== undefined && { dealId }) })
const set = (assignment: string, id: string) =>
  database().query(`update messenger.outbox_events set ${assignment} where id = $1`, [id])
const state = async ({ id }: SeededEvent) => (await outboxState(database(), id)).state

async function seedParked(dealId?: string): Promise<SeededEvent> {
  const event = await seed(dealId)
  await set(`parked_at = now(), attempts = 10, last_error = 'TYPE_UNKNOWN: X'`, event.id)
  return event
}

describe('replay', () => {
  it('of all that is parked takes the oldest first, and leaves what a newer event supersedes', async () => {
    const first = await seedParked()
    const old = await seedParked()
    await seed(old.dealId)
    const second = await seedParked()
    const command: EventCommand = { targets: 'parked', order: anna }
    const half = await replayEvents(newContext(), { ...command, ...stopAfter(1) })
    expect(half).toMatchObject({ affected: 1, skipped: 0, refused: [], stopped: true })
    expect([await state(first), await state(second)]).toEqual(['pending', 'parked'])

    expect(await replayEvents(newContext(), command)).toMatchObject({ affected: 1, refused: [] })
    expect([await state(second), await state(old)]).toEqual(['pending', 'parked'])
    const lines = await auditLines(database())
    expect(lines.map(({ action, deal_id, filter }) => [action, deal_id, filter])).toEqual([
      ['replay', first.dealId, `parked event=${first.id}`],
      ['replay', second.dealId, `parked event=${second.id}`],
      ['replay', null, 'parked'],
    ])
  })

  it('names why it refuses, does the others, and foretells the same in a dry run', async () => {
    const good = await seedParked()
    const published = await seed()
    await set('published_at = now()', published.id)
    const skipped = await seed()
    await set('skipped_at = now()', skipped.id)
    const overtaken = await seedParked()
    await seed(overtaken.dealId)
    const unknown = randomUUID()
    const eventIds = [good, published, skipped, overtaken].map(({ id }) => id).concat(unknown)
    const dry = await replayEvents(newContext(), { targets: { eventIds }, order: 'dry run' })
    expect(await state(good)).toBe('parked')
    expect(await auditLines(database())).toEqual([])
    const result = await replayEvents(newContext(), { targets: { eventIds }, order: anna })
    expect(dry).toEqual(result)
    expect(result.affected).toBe(1)
    expect(result.refused.map(({ eventId, why }) => [eventId, why])).toEqual([
      [published.id, expect.stringContaining('published already')],
      [skipped.id, expect.stringContaining('skipped already')],
      [overtaken.id, expect.stringContaining('newer event')],
      [unknown, expect.stringContaining('no such event')],
    ])
  })

  it('is refused over its cap, and where Debezium relays', async () => {
    await seedParked()
    await seedParked()
    const command: EventCommand = { targets: 'parked', order: anna, atMost: 1 }
    await expect(replayEvents(newContext(), command)).rejects.toMatchObject({
      code: 'TOO_MANY',
      message: expect.stringContaining('2 events') as unknown,
    })
    await expect(
      replayEvents({ ...newContext(), relay: 'off' }, { targets: 'parked', order: anna }),
    ).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('reemit') as unknown,
    })
  })

  it('by two operators at once: each event once', async () => {
    for (let n = 0; n < 20; n += 1) await seedParked()
    const results = await Promise.all(
      ['anna', 'boris'].map((by) =>
        replayEvents(newContext(), { targets: 'parked', order: { ...anna, by } }),
      ),
    )
    const lines = (await auditLines(database())).filter(({ deal_id }) => deal_id !== null)
    expect(results.reduce((sum, { affected }) => sum + affected, 0)).toBe(20)
    expect(new Set(lines.map(({ filter }) => filter)).size).toBe(20)
    expect(lines).toHaveLength(20)
    expect(results.flatMap(({ refused }) => refused)).toEqual([])
  })
})

describe('skip', () => {
  it('takes out what has not gone out, on record, and shown with the event', async () => {
    const event = await seed()
    const targets = { eventIds: [event.id] }
    expect(await skipEvents(newContext(), { targets, order: anna })).toMatchObject({ affected: 1 })
    expect(await state(event)).toBe('skipped')
    expect(await showEvent(newOperator().db, event.id)).toMatchObject({
      dealId: event.dealId,
      status: 'Failed',
      state: 'skipped',
      topic: testTopic,
      audit: [{ actor: 'anna', action: 'skip', reason: anna.reason }],
    })
    const again = await skipEvents(newContext(), { targets, order: anna })
    expect(again).toMatchObject({ affected: 0, refused: [{ eventId: event.id }] })
  })
})

describe('the outbox', () => {
  it('is listed by state and deal, page by page', async () => {
    const parked = await seedParked()
    const events = [await seed(parked.dealId), await seed(), await seed()]
    const { db } = newOperator()
    const all = await listEvents(db, { limit: 10 })
    expect(all.items.map(({ id }) => id)).toEqual(
      [parked, ...events].map(({ id }) => id).toReversed(),
    )
    expect(all.nextCursor).toBeNull()
    const ofDeal = await listEvents(db, { limit: 10, dealId: parked.dealId })
    expect(ofDeal.items.map(({ state }) => state)).toEqual(['pending', 'parked'])
    const first = await listEvents(db, { limit: 2, state: 'pending' })
    const second = await listEvents(db, {
      limit: 2,
      state: 'pending',
      cursor: first.nextCursor ?? undefined,
    })
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(
      events.map(({ id }) => id).toReversed(),
    )
    expect(second.nextCursor).toBeNull()
  })

  it('tells its backlog by age, what is parked, the lag and the rate', async () => {
    await seedParked()
    await seed()
    const old = await seed()
    await set(`occurred_at = now() - interval '20 minutes', attempts = 2`, old.id)
    const sent = await seed()
    await set('published_at = now()', sent.id)
    const status = await outboxStatus(newOperator().db, 'kafka')
    expect(status).toMatchObject({
      backlog: 2,
      failing: 1,
      parked: 1,
      publishedLastHour: 1,
      slots: null,
    })
    expect(status.backlogByAge?.map(({ events }) => events)).toEqual([1, 0, 1, 0])
    expect(status.publishLagSeconds).toBeGreaterThan(1_199)
    const withDebezium = await outboxStatus(newOperator().db, 'off')
    expect(withDebezium).toMatchObject({ backlog: null, parked: 1, slots: [] })
  })
})
