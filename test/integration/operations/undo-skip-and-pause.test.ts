/** A skip and a change of a queue, taken back while nothing has come of them. */

import { afterEach, describe, expect, it } from 'vitest'
import { createPostgresStorage } from '../../../src/chokaq/index.js'
import { skipEvents, type EventsResult } from '../../../src/operations/act-on-events.js'
import { changeQueue, type JobMoves } from '../../../src/operations/act-on-jobs.js'
import { showEvent } from '../../../src/operations/show-event.js'
import { undoChange } from '../../../src/operations/undo/undo-change.js'
import { testTopic } from '../../support/job.js'
import { useTestDatabase } from '../../support/test-database.js'
import { appendEvent, outboxState, type SeededEvent } from '../outbox/relay-fixtures.js'
import { anna, boris, useOperators } from './operator-fixtures.js'
import { movesOn, undo, undoContext } from './undo-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)

afterEach(() => database().query('truncate messenger.outbox_events, chokaq.queues'))

const refusal = (code: string, why: string) => ({
  affected: 0,
  refused: [{ code, why: expect.stringContaining(why) as unknown }],
})

describe('a skip', () => {
  const seed = (dealId?: string) =>
    appendEvent(database(), { topic: testTopic, ...(dealId !== undefined && { dealId }) })
  const set = (assignment: string, { id }: SeededEvent) =>
    database().query(`update messenger.outbox_events set ${assignment} where id = $1`, [id])
  const state = async ({ id }: SeededEvent) => (await outboxState(database(), id)).state
  const row = async ({ id }: SeededEvent) =>
    database().query(`select e::text as row from messenger.outbox_events e where id = $1`, [id])
  const skip = ({ id }: SeededEvent): Promise<EventsResult> =>
    skipEvents(
      { db: newOperator().db, relay: 'kafka' },
      { targets: { eventIds: [id] }, order: anna },
    )

  it.each([
    ['pending', 'attempts = 3, next_attempt_at = now(), last_error = $$X$$'],
    ['parked', 'parked_at = now(), attempts = 10'],
  ])('of a %s event is taken back whole, on record with the event', async (expected, columns) => {
    const event = await seed()
    await set(columns, event)
    const before = await row(event)
    const { auditId } = await skip(event)
    expect(await state(event)).toBe('skipped')
    let woken = 0
    const context = { ...undoContext(newOperator()), onEventWritten: () => void (woken += 1) }
    const result = await undoChange(context, { auditId: auditId ?? '', order: boris })
    expect(result).toMatchObject({ affected: 1, refused: [] })
    expect(await row(event)).toEqual(before)
    expect(await state(event)).toBe(expected)
    expect(woken).toBe(expected === 'pending' ? 1 : 0)
    const detail = await showEvent(newOperator().db, event.id)
    expect(detail?.audit.map(({ actor, action }) => [actor, action])).toEqual([
      ['anna', 'skip'],
      ['boris', 'undo'],
    ])
    expect(await undo(newOperator(), auditId)).toMatchObject(refusal('ALREADY_UNDONE', 'boris'))
  })

  it('stays where its deal has a newer event, sent or not: crm would hear of the past', async () => {
    for (const newer of ['published_at = now()', 'attempts = 0', 'parked_at = now()']) {
      const event = await seed()
      const { auditId } = await skip(event)
      await set(newer, await seed(event.dealId))
      expect(await undo(newOperator(), auditId)).toMatchObject(
        refusal('CHANGED_SINCE', 'has a newer event since'),
      )
      expect(await state(event)).toBe('skipped')
    }
  })

  it('stays where it is another skip, or the event is gone', async () => {
    const event = await seed()
    const first = await skip(event)
    await undo(newOperator(), first.auditId)
    const second = await skip(event)
    await database().query(`delete from messenger.chat_provision_audit where undoes is not null`)
    expect(await undo(newOperator(), first.auditId)).toMatchObject(
      refusal('CHANGED_SINCE', 'skipped anew'),
    )
    await database().query('delete from messenger.outbox_events')
    expect(await undo(newOperator(), second.auditId)).toMatchObject(
      refusal('CHANGED_SINCE', 'the event is gone'),
    )
  })

  it('is not taken back where Debezium relays, for it has read the event', async () => {
    const { auditId } = await skip(await seed())
    const context = undoContext(newOperator(), 'off')
    const command = { auditId: auditId ?? '', order: boris }
    await expect(undoChange(context, command)).rejects.toMatchObject({ code: 'USAGE' })
  })
})

describe('a change of a queue', () => {
  async function change(
    changes: Parameters<JobMoves['changeQueue']>[1],
    order = anna,
  ): Promise<string> {
    const { db } = newOperator()
    const moves = movesOn(db)
    return (await changeQueue({ db, moves }, 'operations', changes, order)).auditId
  }
  const settings = async () => {
    const [queue] = await createPostgresStorage({ db: newOperator().db }).listQueues()
    return queue?.settings
  }
  const none = { maxWorkers: undefined, zombieTimeoutMs: undefined, timeoutMs: undefined }

  it('is taken back: a first pause, and a limit beside a pause', async () => {
    const paused = await change({ paused: true })
    expect(await undo(newOperator(), paused)).toMatchObject({ affected: 1, refused: [] })
    expect(await settings()).toEqual({ paused: false, ...none })
    await change({ paused: true, maxWorkers: 3, timeoutMs: 9_000 })
    const limited = await change({ maxWorkers: null, zombieTimeoutMs: 600_000 })
    expect(await undo(newOperator(), limited)).toMatchObject({ affected: 1 })
    expect(await settings()).toEqual({ paused: true, ...none, maxWorkers: 3, timeoutMs: 9_000 })
  })

  it('stays where someone has changed the queue since, though it looks the same', async () => {
    const annas = await change({ paused: true })
    await change({ paused: false }, boris)
    await change({ paused: true }, boris)
    expect(await undo(newOperator(), annas)).toMatchObject(
      refusal('CHANGED_SINCE', 'the queue was changed since'),
    )
    expect(await settings()).toMatchObject({ paused: true })
  })

  it('is taken back once, whoever is quicker', async () => {
    const paused = await change({ paused: true })
    const ends = await Promise.all([1, 2, 3].map(() => undo(newOperator(), paused)))
    expect(ends.filter(({ affected }) => affected === 1)).toHaveLength(1)
    expect(await settings()).toMatchObject({ paused: false })
  })
})
