/** A request that is sent again: carried out once, by two instances and over a restart too. */

import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { replayEvents } from '../../../src/operations/act-on-events.js'
import { carryOutOnce, pruneRequests, requestOf } from '../../../src/operations/once.js'
import { reemitProvisions } from '../../../src/operations/reemit-provisions.js'
import { dealState } from '../../support/deals.js'
import { testTopic } from '../../support/job.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { appendEvent } from '../outbox/relay-fixtures.js'
import { anna, auditLines, seedPoisonDeals, stopAfter, useOperators } from './operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
const request = requestOf(['a form', 'its id'], { deal: 'd' })

afterEach(async () => {
  await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.outbox_events, messenger.operator_requests cascade`.execute(database().admin)
})

/** As an instance leaves it that was ended in the middle, a while ago. */
const leaveBrokenOff = (ago: string) =>
  database().query(
    `insert into messenger.operator_requests (id, asked, runner, begun_at)
     values ($1, $2, gen_random_uuid(), clock_timestamp() - $3::interval)`,
    [request.id, request.asked, ago],
  )

describe('a request', () => {
  it('that is sent twice at once is carried out once, and both hear what came of it', async () => {
    let calls = 0
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const act = async () => {
      calls += 1
      await ended
      return { text: 'done', calls }
    }
    const both = [newOperator(), newOperator()].map(({ db }) => carryOutOnce(db, request, act))
    end()
    const answers = await Promise.all(both)
    expect(calls).toBe(1)
    expect(answers.map((answer) => !answer.isOther && answer.outcome)).toEqual([
      { text: 'done', calls: 1 },
      { text: 'done', calls: 1 },
    ])
    expect(answers.map((answer) => !answer.isOther && answer.isRepeat).toSorted()).toEqual([
      false,
      true,
    ])
  })

  it('that takes long says that it lives, so that nobody takes it over', async () => {
    let end = (): void => undefined
    const ended = new Promise<string>((resolve) => (end = () => resolve('done')))
    const answer = carryOutOnce(newOperator().db, request, () => ended)
    const isYoung = async (): Promise<boolean> => {
      const rows = await database().query(
        `select from messenger.operator_requests
         where begun_at > clock_timestamp() - interval '1 minute'`,
      )
      return rows.length === 1
    }
    await waitFor('the claim', isYoung)
    // As if it had been at it for an hour.
    await database().query(
      `update messenger.operator_requests set begun_at = clock_timestamp() - interval '1 hour'`,
    )
    await waitFor('its sign of life', isYoung)
    end()
    expect(await answer).toEqual({ isOther: false, outcome: 'done', isRepeat: false })
  })

  it('that failed may be sent again', async () => {
    const { db } = newOperator()
    const fail = () => Promise.reject(new Error('no'))
    await expect(carryOutOnce(db, request, fail)).rejects.toThrow('no')
    const answer = await carryOutOnce(db, request, () => Promise.resolve('done'))
    expect(answer).toEqual({ isOther: false, outcome: 'done', isRepeat: false })
  })

  it('with other content is another, and is not carried out', async () => {
    const { db } = newOperator()
    await carryOutOnce(db, request, () => Promise.resolve('done'))
    const other = { ...request, asked: requestOf([], { deal: 'e' }).asked }
    let calls = 0
    const answer = await carryOutOnce(db, other, () => Promise.resolve((calls += 1)))
    expect([answer, calls]).toEqual([{ isOther: true, firstIsDone: true }, 0])
  })

  it('whose first has not been carried out (yet) is not said to be done', async () => {
    await leaveBrokenOff('1 minute')
    const other = { ...request, asked: requestOf([], { deal: 'e' }).asked }
    const answer = await carryOutOnce(newOperator().db, other, () => Promise.resolve('done'))
    expect(answer).toEqual({ isOther: true, firstIsDone: false })
  })

  it('whose instance died is taken over by the next one to send it', async () => {
    await leaveBrokenOff('1 minute')
    const answer = await carryOutOnce(newOperator().db, request, () => Promise.resolve('done'))
    expect(answer).toEqual({ isOther: false, outcome: 'done', isRepeat: false })
  })

  it('is forgotten after days', async () => {
    await leaveBrokenOff('8 days')
    const { db } = newOperator()
    await carryOutOnce(db, requestOf(['another'], ''), () => Promise.resolve('done'))
    expect(await pruneRequests(db)).toBe(1)
    expect(await database().query('select outcome from messenger.operator_requests')).toEqual([
      { outcome: { outcome: 'done' } },
    ])
  })
})

describe('a request that was broken off', () => {
  const order = { ...anna, requestId: request.id }

  it('goes on with the rest of its deals, and tells of all of them', async () => {
    const deals = await seedPoisonDeals(database(), 3)
    const targets = { dealIds: deals.map(({ dealId }) => dealId) }
    const half = await reemitProvisions(newOperator(), { targets, order, ...stopAfter(1) })
    expect(half).toMatchObject({ affected: 1, stopped: true })
    const rest = await reemitProvisions(newOperator(), { targets, order })
    expect(rest).toMatchObject({ affected: 3, refused: [], stopped: false })
    for (const { dealId } of deals)
      expect((await dealState(database().admin, dealId)).events).toEqual(['Failed'])
  })

  it('of a single deal does it once, and another request does it again', async () => {
    const [deal] = await seedPoisonDeals(database(), 1)
    const targets = { dealIds: [deal?.dealId ?? ''] }
    const first = await reemitProvisions(newOperator(), { targets, order })
    expect(await reemitProvisions(newOperator(), { targets, order })).toEqual(first)
    const another = { ...anna, requestId: 'another' }
    await reemitProvisions(newOperator(), { targets, order: another })
    const { events } = await dealState(database().admin, deal?.dealId ?? '')
    expect(events).toEqual(['Failed', 'Failed'])
  })

  it('of an event replays it once, though it was parked anew since', async () => {
    const { id } = await appendEvent(database(), { topic: testTopic })
    const park = `update messenger.outbox_events set parked_at = now()`
    const context = { db: newOperator().db, relay: 'kafka' as const }
    const command = { targets: { eventIds: [id] }, order }
    await database().query(park)
    const first = await replayEvents(context, command)
    await database().query(park)
    expect(await replayEvents(context, command)).toEqual(first)
    const [event] = await database().query('select parked_at from messenger.outbox_events')
    expect(event).not.toEqual({ parked_at: null })
    expect(await auditLines(database())).toHaveLength(1)
  })
})
