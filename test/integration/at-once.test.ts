/** The good path in one statement: what it does whole, and what it leaves to the steps untouched. */

import { randomUUID } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDatabase } from '../../src/postgres/connect.js'
import type { Database } from '../../src/postgres/schema.js'
import { provisionAtOnce } from '../../src/provisioning/at-once.js'
import {
  readAsOf,
  readDueCandidates,
  readDueLevels,
  type Candidate,
} from '../../src/provisioning/candidates.js'
import type { MessengerChats } from '../../src/provisioning/messenger-chats.js'
import { createProvisionContext } from '../../src/provisioning/provision-context.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { dealState, readyDeal, seedDeal, type DealSeed } from '../support/deals.js'
import { testRetryOptions, testTopic, useTestJobs } from '../support/job.js'
import { describeWithPgbouncer, startPgbouncer, type Pgbouncer } from '../support/pgbouncer.js'
import { Rival } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

async function readCandidate(): Promise<Candidate> {
  const { admin } = database()
  const at = { asOf: await readAsOf(admin), stuckProvisioningAfterMs: 1, maxAttempts: 10 }
  const [candidate] = await readDueCandidates(
    admin,
    at,
    await readDueLevels(admin, at),
    undefined,
    1,
  )
  if (candidate === undefined) throw new Error('nothing is due')
  return candidate
}

const closers: (() => Promise<void>)[] = []
afterAll(() => Promise.all(closers.map((close) => close())))
let rowWork: Kysely<Database> | undefined

/** As the job's pool, whose sessions carry limits. */
function openRowWork(): Kysely<Database> {
  const db = createDatabase({
    connectionString: database().url,
    applicationName: 'row work',
    max: 1,
    rowWork: true,
    onConnectionLost: () => undefined,
  })
  closers.push(() => db.destroy())
  return db
}

function atOnce(
  candidate: Candidate,
  chats: MessengerChats = referenceChats,
  db: Kysely<Database> = (rowWork ??= openRowWork()),
) {
  return provisionAtOnce(
    db,
    candidate,
    { attempts: candidate.attempts + 1, asOf: '2026-01-01T00:00:00Z', backoffMs: 1 },
    { topic: testTopic, correlationId: randomUUID(), traceparent: null },
    createProvisionContext(chats, testRetryOptions.participantRoles),
  )
}

const untouched = { status: 'Failed', attempts: 0, chatId: null, participants: 0, events: [] }

describe('one statement', () => {
  it('does all that the steps do', async () => {
    const { dealId } = await seedDeal(database().admin, { tenantId: randomUUID() })
    const chatId = await atOnce(await readCandidate())
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...readyDeal, chatId })
    const [chat] = await database().query(
      `select c.kind, c.status, c.title = p.title as titled, c.deal_tenant_id = p.deal_tenant_id as of
       from messenger.chats c join messenger.deal_chat_provisions p on p.chat_id = c.id`,
    )
    expect(chat).toEqual({ kind: 'Deal', status: 'Active', titled: true, of: true })
  })

  it.each<[string, DealSeed]>([
    ['a blank title', { title: '\u200b' }],
    ['no members', { members: [] }],
    ['an unknown role', { members: [{ userId: randomUUID(), role: 'King' }] }],
    [
      'too many members',
      { members: Array.from({ length: 1001 }, () => ({ userId: randomUUID(), role: 'Member' })) },
    ],
  ])('leaves %s to the steps', async (_, seed) => {
    const { dealId } = await seedDeal(database().admin, seed)
    expect(await atOnce(await readCandidate())).toBeUndefined()
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...untouched, chats: 0 })
  })

  it('takes as many members as there may be', async () => {
    const members = Array.from({ length: 1000 }, () => ({ userId: randomUUID(), role: 'Member' }))
    const { dealId } = await seedDeal(database().admin, { members })
    await atOnce(await readCandidate())
    expect(await dealState(database().admin, dealId)).toMatchObject({ participants: 1000 })
  })

  it('leaves a deal that has a chat to the steps', async () => {
    const { dealId } = await seedDeal(database().admin)
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(dealId)
    await rival.commit()
    expect(await atOnce(await readCandidate())).toBeUndefined()
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...untouched, chats: 1 })
  })

  it('leaves a row that someone holds', async () => {
    const { dealId } = await seedDeal(database().admin)
    const candidate = await readCandidate()
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(dealId)
    expect(await atOnce(candidate)).toBeUndefined()
    await rival.rollback()
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...untouched, chats: 0 })
  })

  it('leaves a row that someone has touched since it was read', async () => {
    const { dealId } = await seedDeal(database().admin)
    const candidate = await readCandidate()
    await database().query('update messenger.deal_chat_provisions set title = title')
    expect(await atOnce(candidate)).toBeUndefined()
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...untouched, chats: 0 })
  })

  it('adds participants by user, so that two deals with the same people never block each other', async () => {
    const members = Array.from({ length: 50 }, () => ({ userId: randomUUID(), role: 'Member' }))
    await seedDeal(database().admin, { members })
    await atOnce(await readCandidate())
    const added = await database().query<{ id: string }>(
      'select user_id as id from messenger.participants order by ctid',
    )
    expect(added.map(({ id }) => id)).toEqual(members.map(({ userId }) => userId).sort())
  })

  it('leaves every row to the steps on a session without a time limit', async () => {
    const { dealId } = await seedDeal(database().admin)
    expect(await atOnce(await readCandidate(), referenceChats, database().admin)).toBeUndefined()
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...untouched, chats: 0 })
  })

  it('leaves every row of an adapter that offers no statement', async () => {
    const { dealId } = await seedDeal(database().admin)
    const steps = { ...referenceChats, creation: undefined }
    expect(await atOnce(await readCandidate(), steps)).toBeUndefined()
    expect(await newJob({ chats: steps }).cycle()).toMatchObject({ provisioned: 1 })
    expect(await dealState(database().admin, dealId)).toMatchObject(readyDeal)
  })
})

const settings = `
  select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as idle,
    current_setting('enable_seqscan') as seqscan,
    (select count(*)::int from pg_prepared_statements) as prepared`

describe('a session of its own', () => {
  it('carries the limits, and prepares each statement once', async () => {
    const db = openRowWork()
    for (let n = 0; n < 3; n += 1) await sql`select ${n}::int`.execute(db)
    expect((await sql.raw(settings).execute(db)).rows).toEqual([
      { lock: '5s', statement: '15s', idle: '30s', seqscan: 'off', prepared: 2 },
    ])
  })
})

describeWithPgbouncer('L5 a session that others share', () => {
  let pooler: Pgbouncer

  beforeAll(async () => {
    pooler = await startPgbouncer({ poolSize: 1 })
    return () => pooler.stop()
  })

  it('is left as it was, and the rows are done all the same', async () => {
    const deals = [
      await seedDeal(database().admin),
      await seedDeal(database().admin, { members: [] }),
    ]
    const job = newJob({ url: pooler.url(database().name), lockUrl: database().url })
    expect(await job.cycle()).toMatchObject({ provisioned: 1, retried: 1 })
    expect(await dealState(database().admin, deals[0]?.dealId ?? '')).toMatchObject(readyDeal)

    const other = createDatabase({
      connectionString: pooler.url(database().name),
      applicationName: 'somebody else',
      max: 1,
      onConnectionLost: () => undefined,
    })
    try {
      expect((await sql.raw(settings).execute(other)).rows).toEqual([
        { lock: '0', statement: '0', idle: '0', seqscan: 'on', prepared: 0 },
      ])
    } finally {
      await other.destroy()
    }
  })

  it('is asked once for its limits, and no row is tried by the one statement in vain', async () => {
    const query = vi.spyOn(pg.Client.prototype, 'query')
    try {
      for (let n = 0; n < 3; n += 1) await seedDeal(database().admin)
      const job = newJob({ url: pooler.url(database().name), lockUrl: database().url })
      expect(await job.cycle()).toMatchObject({ provisioned: 3 })
      const sent = (part: string): number =>
        query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes(part)).length
      expect(sent('as limited')).toBe(1)
      expect(sent('due as materialized')).toBe(0)
    } finally {
      query.mockRestore()
    }
  })
})
