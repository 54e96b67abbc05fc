/** What else happens to the outbox: an operator's replay and skip, and retention. */

import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { replayEvent, skipEvent } from '../../../src/outbox/operator-actions.js'
import { deleteSettledEvents, retentionBatchRows } from '../../../src/outbox/retention.js'
import { useTestDatabase } from '../../support/test-database.js'
import { insertMany } from './many-events.js'
import { appendEvent, outboxState } from './relay-fixtures.js'

const database = useTestDatabase()
const topic = 'pin.messenger.deal-chat-status-changed.v1'
const sevenDaysMs = 7 * 86_400_000

beforeEach(async () => {
  await database().query('truncate messenger.outbox_events')
})

describe('an operator', () => {
  const replay = (id: string): ReturnType<typeof replayEvent> =>
    database()
      .admin.transaction()
      .execute((trx) => replayEvent(trx, id))
  const skip = (id: string): ReturnType<typeof skipEvent> =>
    database()
      .admin.transaction()
      .execute((trx) => skipEvent(trx, id))
  const set = (id: string, assignment: string): Promise<unknown> =>
    database().query(`update messenger.outbox_events set ${assignment} where id = $1`, [id])

  test('replays a parked event, with all its attempts', async () => {
    const { id, dealId } = await appendEvent(database(), { topic })
    await set(id, 'parked_at = now(), attempts = 10')
    expect(await replay(id)).toEqual({ done: true, dealId })
    expect(await outboxState(database(), id)).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('is refused the replay of what is superseded, or would be at once', async () => {
    const { id, dealId } = await appendEvent(database(), { topic })
    await set(id, 'parked_at = now()')
    await appendEvent(database(), { topic, dealId })
    const refused = { done: false, reason: 'wrong state', state: 'superseded' }
    expect(await replay(id)).toEqual(refused)
    await set(id, 'superseded_at = now()')
    expect(await replay(id)).toEqual(refused)
  })

  test('skips what has not gone out, and nothing else', async () => {
    const { id, dealId } = await appendEvent(database(), { topic })
    expect(await skip(id)).toEqual({ done: true, dealId })
    expect(await skip(id)).toEqual({ done: false, reason: 'wrong state', state: 'skipped' })
    expect(await replay(id)).toEqual({ done: false, reason: 'wrong state', state: 'skipped' })
    const sent = await appendEvent(database(), { topic })
    await set(sent.id, 'published_at = now()')
    expect(await skip(sent.id)).toEqual({ done: false, reason: 'wrong state', state: 'published' })
    expect(await skip(randomUUID())).toEqual({ done: false, reason: 'not found' })
  })
})

const countLeft = async (): Promise<number> => {
  const [row] = await database().query<{ n: number }>(
    'select count(*)::int as n from messenger.outbox_events',
  )
  return Number(row?.n)
}

describe('retention', () => {
  const insert = (count: number, column: string, value: string): Promise<unknown> =>
    insertMany(database(), { topic, count, set: { [column]: value } })

  test('deletes what was settled long ago, in batches, and nothing that still waits', async () => {
    const old = `now() - interval '8 days'`
    await insert(retentionBatchRows, 'published_at', old)
    await insert(5, 'superseded_at', old)
    await insert(5, 'skipped_at', old)
    await insert(3, 'occurred_at', old)
    await insert(3, 'parked_at', old)
    await insert(3, 'published_at', `now() - interval '6 days'`)
    const prune = (): Promise<number> => deleteSettledEvents(database().admin, sevenDaysMs)
    expect([await prune(), await prune(), await prune()]).toEqual([retentionBatchRows, 10, 0])
    expect(await countLeft()).toBe(9)
  })

  test('C4: several instances at once neither wait for each other nor deadlock', async () => {
    await insert(4 * retentionBatchRows, 'published_at', `now() - interval '8 days'`)
    const deleted = await Promise.all(
      Array.from({ length: 4 }, () => deleteSettledEvents(database().admin, sevenDaysMs)),
    )
    expect(deleted.reduce((sum, n) => sum + n)).toBe(4 * retentionBatchRows - (await countLeft()))
  })
})
