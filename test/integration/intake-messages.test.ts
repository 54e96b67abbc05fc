/** What becomes of a deal-created: made, Failed and left to the job, known already, or parked. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { installChatFaults, setChatFault } from '../../src/demo/chat-faults.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { whileChatsAreRefusedAtCommit } from '../support/refuse-at-commit.js'
import { useTestDatabase } from '../support/test-database.js'
import { dealCreated, rawMessage, useTestHandlers } from './intake-fixtures.js'

const database = useTestDatabase()
const newHandler = useTestHandlers(database)
const newJob = useTestJobs(database)

beforeAll(() => installChatFaults(database().admin))

const ready = { ...readyDeal, attempts: 0 }
/** The row stands and is due at once; nothing else of the deal does. */
const leftToTheJob = {
  status: 'Failed',
  attempts: 0,
  backedOff: false,
  chatId: null,
  chats: 0,
  participants: 0,
  feedRows: 0,
  events: [],
}

async function rows(text: string): Promise<unknown[]> {
  return database().query(text)
}

describe('a deal that is new', () => {
  it('gets intention, chat, participants, feed row, Ready and its event in one go', async () => {
    const [tenantId, projectId, correlationId] = [randomUUID(), randomUUID(), randomUUID()]
    const message = dealCreated({ tenantId, projectId, correlationId })
    const handler = newHandler()

    expect(await handler.take(message)).toBe(true)

    const state = await dealState(database().admin, message.dealId)
    expect(state).toMatchObject(ready)
    expect(
      await rows(`select p.title, p.project_id, p.deal_tenant_id, c.id, c.title as chat_title,
          c.project_id as chat_project_id, c.deal_tenant_id as chat_tenant_id,
          e.correlation_id as feed_correlation, o.correlation_id as event_correlation
        from messenger.deal_chat_provisions p join messenger.chats c on c.id = p.chat_id
        join messenger.chat_events e on e.chat_id = c.id
        join messenger.outbox_events o on o.aggregate_id = p.deal_id`),
    ).toEqual([
      {
        title: 'Объект №7, ЖК «Север»',
        project_id: projectId,
        deal_tenant_id: tenantId,
        id: state.chatId,
        chat_title: 'Объект №7, ЖК «Север»',
        chat_project_id: projectId,
        chat_tenant_id: tenantId,
        feed_correlation: correlationId,
        event_correlation: correlationId,
      },
    ])
    expect(handler.counted).toEqual({ succeeded: 1, retried: 0, tries: 1, events: 1, parked: 0 })
    expect(handler.lines).toMatchObject([
      { event: 'chat provisioned', dealId: message.dealId, chatId: state.chatId, attempts: 0 },
    ])
  })

  it.each([
    ['a blank title', { title: ' \u2003' }, 'guard:TITLE_BLANK'],
    ['no members', { members: [] }, 'guard:NO_MEMBERS'],
    [
      'an unknown role',
      { members: [{ userId: randomUUID(), role: 'King' }] },
      'guard:ROLE_UNKNOWN',
    ],
  ])('with %s is left Failed, and the job counts its own runs', async (_, seed, lastError) => {
    const message = dealCreated(seed)
    const handler = newHandler()
    expect(await handler.take(message)).toBe(true)
    expect(await dealState(database().admin, message.dealId)).toMatchObject({
      ...leftToTheJob,
      lastError,
    })
    expect(handler.lines).toMatchObject([{ event: 'provision retry', attempts: 0 }])
    expect(handler.counted).toMatchObject({ retried: 1, events: 0 })

    expect(await newJob().cycle()).toMatchObject({ claimed: 1, retried: 1 })
    expect(await dealState(database().admin, message.dealId)).toMatchObject({
      attempts: 1,
      backedOff: true,
      lastError,
    })
    const kept = await database().query(
      `select attempt, error, run_id is null as "isIntakes"
       from messenger.chat_provision_attempts order by id`,
    )
    expect(kept).toEqual([
      { attempt: 0, error: lastError, isIntakes: true },
      { attempt: 1, error: lastError, isIntakes: false },
    ])
  })

  it.each([
    ['a constraint', '23514', 'constraint:23514'],
    ['a data error', '22001', 'data:22001'],
    ['anything unforeseen', 'P0001', 'bug:P0001'],
    ['a deadlock that persists', '40P01', 'contention:40P01'],
    ['work that ends its session', '57P01', 'contention:57P01'],
  ])('that fails by %s is left Failed, and the job makes its chat', async (_, sqlstate, error) => {
    const message = dealCreated()
    await setChatFault(database().admin, { dealId: message.dealId, sqlstate })
    expect(await newHandler().take(message)).toBe(true)
    expect(await dealState(database().admin, message.dealId)).toMatchObject({
      ...leftToTheJob,
      lastError: error,
    })

    await rows('delete from chat_faults.faults')
    expect(await newJob().cycle()).toMatchObject({ provisioned: 1 })
    expect(await dealState(database().admin, message.dealId)).toMatchObject(readyDeal)
  })

  it('that fails at commit (a deferred constraint) is left Failed just the same', async () => {
    await whileChatsAreRefusedAtCommit(database().admin, async () => {
      const message = dealCreated()
      expect(await newHandler().take(message)).toBe(true)
      expect(await dealState(database().admin, message.dealId)).toMatchObject({
        ...leftToTheJob,
        lastError: 'constraint:23503',
      })
    })
  })
})

describe('a deal that is known', () => {
  const versions = (): Promise<unknown[]> =>
    rows(`select deal_id, xmin::text, (select count(*)::int from messenger.outbox_events) as events
          from messenger.deal_chat_provisions order by deal_id`)

  it.each([
    ['Ready', {}],
    ['Failed and due', { title: ' ' }],
  ])('and %s by this very message is left as it is', async (_, seed) => {
    const message = dealCreated(seed)
    const handler = newHandler()
    await handler.take(message)
    const before = await versions()
    expect(await handler.take(message)).toBe(true)
    expect(await versions()).toEqual(before)
    expect(handler.lines.at(-1)).toMatchObject({ event: 'intake deal known' })
  })

  it.each([
    ['poison', { status: 'Failed', attempts: 10 }],
    ['under way elsewhere', { status: 'Provisioning', attempts: 0 }],
  ] as const)('and %s is left to the job and the operator', async (_, seed) => {
    const { dealId } = await seedDeal(database().admin, seed)
    const before = await versions()
    expect(await newHandler().take(dealCreated({ dealId }))).toBe(true)
    expect(await versions()).toEqual(before)
  })
})

describe('a message that can not be taken in', () => {
  it.each([
    ['no JSON', Buffer.from('{"DealId":'), 'NOT_JSON'],
    ['no text', Buffer.from([0, 0xff]), 'NOT_UTF8'],
    ['no value', null, 'NO_VALUE'],
    ['another shape', Buffer.from('[1]'), 'SHAPE_INVALID: the value must be an object'],
  ])('being %s, is parked once with its bytes and the reason', async (_, value, error) => {
    const message = { ...rawMessage(value), key: Buffer.from('a key') }
    const handler = newHandler()
    expect(await handler.take(message)).toBe(true)
    expect(await handler.take(message)).toBe(true)
    const { topic, partition, offset, key } = message
    expect(
      await rows(
        'select topic, partition, "offset", key, value, error from messenger.intake_parked',
      ),
    ).toEqual([{ topic, partition, offset, key, value, error }])
    const parked = { event: 'intake message parked', level: 50, topic, offset, reason: error }
    expect(handler.lines).toMatchObject([parked, parked])
  })

  it.each([
    ['U+0000', 'a\u0000b'],
    ['half a surrogate pair', 'a\ud83cb'],
  ])('P1: with %s in its title, is parked and does not come again', async (_, title) => {
    expect(await newHandler().take(dealCreated({ title }))).toBe(true)
    expect(await rows('select error from messenger.intake_parked')).toEqual([
      { error: "SHAPE_INVALID: Title holds a character that the database can't keep" },
    ])
    expect(await rows('select id from messenger.deal_chat_provisions')).toEqual([])
  })

  it('because a rule of the table is against it, is parked with that rule’s code', async () => {
    await sql`alter table messenger.deal_chat_provisions
      add constraint no_umbrellas check (title not like '%☂%')`.execute(database().admin)
    try {
      expect(await newHandler().take(dealCreated({ title: '☂' }))).toBe(true)
      expect(await rows('select error from messenger.intake_parked')).toEqual([
        { error: 'DATABASE_REFUSES: constraint:23514' },
      ])
    } finally {
      await sql`alter table messenger.deal_chat_provisions drop constraint no_umbrellas`.execute(
        database().admin,
      )
    }
  })
})
