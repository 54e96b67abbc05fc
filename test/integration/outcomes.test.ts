/** Each line of the outcome table: what happened, the row, the event, the count. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { installChatFaults, setChatFault } from '../../src/demo/chat-faults.js'
import { dealState, readyDeal, seedDeal, threeMembers, type DealSeed } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { whileChatsAreRefusedAtCommit } from '../support/refuse-at-commit.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

beforeAll(() => installChatFaults(database().admin))

async function seedFault(sqlstate: string, seed: DealSeed & { spoils?: number } = {}) {
  const deal = await seedDeal(database().admin, seed)
  await setChatFault(database().admin, {
    dealId: deal.dealId,
    sqlstate,
    ...(seed.spoils !== undefined && { spoils: seed.spoils }),
  })
  return deal
}

const undone = { status: 'Failed', attempts: 1, backedOff: true, chats: 0, feedRows: 0, events: [] }

describe("a row's own failure", () => {
  it.each([
    ['a blank title', { title: '\u2003\t ' }, 'guard:TITLE_BLANK'],
    ['no members', { members: [] }, 'guard:NO_MEMBERS'],
    [
      'an unknown role',
      { members: [{ userId: randomUUID(), role: 'King' }] },
      'guard:ROLE_UNKNOWN',
    ],
    [
      'too many members',
      { members: Array.from({ length: 1001 }, () => ({ userId: randomUUID(), role: 'Member' })) },
      'guard:MEMBERS_TOO_MANY',
    ],
  ])('%s is undone, counted and backed off', async (_, seed, lastError) => {
    const deal = await seedDeal(database().admin, seed)
    expect(await newJob().cycle()).toMatchObject({ claimed: 1, retried: 1, failed: 0 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({ ...undone, lastError })
  })

  it('a hundred thousand members are only counted as far as they matter', async () => {
    const { id, dealId } = await seedDeal(database().admin, { members: [] })
    await sql`insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
      select ${id}, gen_random_uuid(), 'Member' from generate_series(1, 100000)`.execute(
      database().admin,
    )
    const good = await seedDeal(database().admin)
    expect(await newJob().cycle()).toMatchObject({ claimed: 2, retried: 1, provisioned: 1 })
    expect(await dealState(database().admin, dealId)).toMatchObject({
      ...undone,
      lastError: 'guard:MEMBERS_TOO_MANY',
    })
    expect(await dealState(database().admin, good.dealId)).toMatchObject({ status: 'Ready' })
  })

  it.each([40, 5_000, 2_147_483_645])(
    'P2 after %i attempts backs off within the cap, and the worker goes on',
    async (attempts) => {
      const { dealId } = await seedDeal(database().admin, { attempts, title: ' ' })
      const job = newJob({ retry: { maxAttempts: 2_147_483_647 } })
      expect(await job.cycle()).toMatchObject({ outcome: 'completed', retried: 1 })
      const [row] = await database().query<{ attempts: number; seconds: number }>(
        `select attempts, extract(epoch from next_attempt_at - updated_at)::float8 as seconds
         from messenger.deal_chat_provisions where deal_id = $1`,
        [dealId],
      )
      expect(row?.attempts).toBe(attempts + 1)
      // The cap of 15 minutes, up to a fifth less by jitter; AsOf lies a moment before the write.
      expect(row?.seconds).toBeGreaterThan(700)
      expect(row?.seconds).toBeLessThanOrEqual(900)
    },
  )

  it('P2 the last attempt that can be counted is the last', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 2_147_483_646, title: ' ' })
    const job = newJob({ retry: { maxAttempts: 2_147_483_647 } })
    expect(await job.cycle()).toMatchObject({ outcome: 'completed', failed: 1 })
    expect(await dealState(database().admin, dealId)).toMatchObject({
      attempts: 2_147_483_647,
      events: ['Failed'],
    })
  })

  it.each([
    ['a constraint', '23514', 'constraint:23514'],
    ['a data error', '22001', 'data:22001'],
    ['anything unforeseen', 'P0001', 'bug:P0001'],
  ])('%s is undone, counted and backed off', async (_, sqlstate, lastError) => {
    const deal = await seedFault(sqlstate)
    expect(await newJob().cycle()).toMatchObject({ claimed: 1, retried: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({ ...undone, lastError })
  })

  it.each([
    ['archived', { status: 'Archived' }, 'guard:CHAT_NOT_ACTIVE'],
    ['of another kind', { kind: 'Group' }, 'guard:CHAT_KIND_MISMATCH'],
    ['of another tenant', { tenant: randomUUID() }, 'guard:TENANT_MISMATCH'],
  ])('a chat that is %s is not taken for the deal’s', async (_, chat, lastError) => {
    const deal = await seedDeal(database().admin, { tenantId: randomUUID() })
    const { kind = 'Deal', status = 'Active', tenant = null } = chat as Record<string, string>
    await sql`
      insert into messenger.chats (id, kind, status, deal_id, title, deal_tenant_id)
      values (gen_random_uuid(), ${kind}, ${status}, ${deal.dealId}, 'there already', ${tenant})
    `.execute(database().admin)

    expect(await newJob().cycle()).toMatchObject({ retried: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...undone,
      chats: 1,
      participants: 0,
      lastError,
    })
  })

  it('at commit (a deferred constraint) is recorded just the same', async () => {
    await whileChatsAreRefusedAtCommit(database().admin, async () => {
      const deal = await seedDeal(database().admin)
      expect(await newJob().cycle()).toMatchObject({ retried: 1 })
      expect(await dealState(database().admin, deal.dealId)).toMatchObject({
        ...undone,
        lastError: 'constraint:23503',
      })
    })
  })
})

describe('contention', () => {
  it.each(['40001', '40P01', '55P03', '57014'])('%s that persists is recorded', async (state) => {
    const deal = await seedFault(state)
    expect(await newJob().cycle()).toMatchObject({ claimed: 1, retried: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...undone,
      lastError: `contention:${state}`,
    })
  })

  it('at the last attempt is poison, with the Failed event', async () => {
    const deal = await seedFault('40P01', { attempts: 9 })
    expect(await newJob().cycle()).toMatchObject({ claimed: 1, retried: 0, failed: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...undone,
      attempts: 10,
      events: ['Failed'],
      lastError: 'contention:40P01',
    })
  })
})

describe('work that ends its session', () => {
  it('while the server answers is taken for contention, and holds nobody up', async () => {
    const bad = await seedFault('57P01', { age: '20 minutes' })
    const good = await seedDeal(database().admin, { age: '10 minutes' })

    const summary = await newJob({ retry: { concurrency: 1 } }).cycle()

    expect(summary).toMatchObject({ outcome: 'completed', retried: 1, provisioned: 1 })
    expect(await dealState(database().admin, bad.dealId)).toMatchObject({
      ...undone,
      lastError: 'contention:57P01',
    })
    expect(await dealState(database().admin, good.dealId)).toMatchObject(readyDeal)
  })
})

describe('a row without attempts left', () => {
  it('found stuck in Provisioning is closed as Failed, with its event', async () => {
    const stuck = await seedDeal(database().admin, { status: 'Provisioning', attempts: 10 })
    const young = await seedDeal(database().admin, {
      status: 'Provisioning',
      attempts: 10,
      age: '1 minute',
    })
    const job = newJob()
    expect(await job.cycle()).toMatchObject({ claimed: 1, failed: 1 })
    expect(await dealState(database().admin, stuck.dealId)).toMatchObject({
      status: 'Failed',
      attempts: 10,
      lastError: 'crash:WORKER_DIED',
      events: ['Failed'],
    })
    expect(await dealState(database().admin, young.dealId)).toMatchObject({
      status: 'Provisioning',
      events: [],
    })
    expect(job.counted.poison).toBe(1)
  })
})

describe('after an unclean death', () => {
  it('each attempt is on record before its work, and then counts once', async () => {
    await sql`
      insert into messenger.chat_provision_runs (id, as_of, host)
      values (gen_random_uuid(), now(), 'a worker that was killed')`.execute(database().admin)
    const good = await seedDeal(database().admin, { members: threeMembers() })
    const bad = await seedFault('23514')
    const job = newJob()

    expect(await job.cycle()).toMatchObject({ claimed: 2, provisioned: 1, retried: 1 })

    expect(job.lines).toContainEqual(
      expect.objectContaining({ event: 'cycle started', careful: true }),
    )
    expect(await dealState(database().admin, good.dealId)).toMatchObject(readyDeal)
    expect(await dealState(database().admin, bad.dealId)).toMatchObject({
      ...undone,
      lastError: 'constraint:23514',
    })
    const runs = await database().query<{ reason: string | null }>(
      'select reason from messenger.chat_provision_runs order by started_at',
    )
    expect(runs).toEqual([{ reason: 'the worker died' }, { reason: null }])
  })
})
