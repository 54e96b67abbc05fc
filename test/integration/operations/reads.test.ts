/** Lists and looks: filters, pages that neither skip nor repeat, odd rows, and the audit. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { listAudit } from '../../../src/operations/audit-trail.js'
import { referenceChatView } from '../../../src/operations/chat-view.js'
import { listProvisions, type ProvisionLine } from '../../../src/operations/list-provisions.js'
import { listRuns } from '../../../src/operations/list-runs.js'
import type { Page } from '../../../src/operations/page.js'
import type { ProvisionFilter } from '../../../src/operations/provision-filter.js'
import { requeueProvisions } from '../../../src/operations/requeue-provisions.js'
import { showProvision } from '../../../src/operations/show-provision.js'
import { seedDeal } from '../../support/deals.js'
import { useTestJobs } from '../../support/job.js'
import { useTestDatabase } from '../../support/test-database.js'
import { anna, boris, maxAttempts, seedPoisonDeals, useOperators } from './operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
const newJob = useTestJobs(database)

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function list(filter: ProvisionFilter, limit = 100, cursor?: string): Promise<Page<ProvisionLine>> {
  return listProvisions(newOperator().db, { filter, maxAttempts, limit, cursor })
}

async function allPages<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}

describe('the list of provisions', () => {
  it('takes each filter, and all of them together', async () => {
    const tenantId = randomUUID()
    const poisoned = await seedDeal(database().admin, { attempts: 10, tenantId, age: '2 hours' })
    await database().query(
      `update messenger.deal_chat_provisions set last_error = 'guard:NO_MEMBERS'`,
    )
    const failing = await seedDeal(database().admin, { attempts: 2, tenantId })
    const hanging = await seedDeal(database().admin, { attempts: 10, status: 'Provisioning' })
    const ids = async (filter: ProvisionFilter) =>
      new Set((await list(filter)).items.map(({ dealId }) => dealId))
    const set = (...deals: { readonly dealId: string }[]) =>
      new Set(deals.map(({ dealId }) => dealId))
    expect(await ids({})).toEqual(set(poisoned, failing, hanging))
    expect(await ids({ poison: true })).toEqual(set(poisoned))
    expect(await ids({ status: 'Provisioning' })).toEqual(set(hanging))
    expect(await ids({ errorPrefix: 'guard:' })).toEqual(set(poisoned))
    expect(await ids({ tenantId })).toEqual(set(poisoned, failing))
    expect(await ids({ olderThanMs: 3_600_000 })).toEqual(set(poisoned))
    expect(await ids({ tenantId, status: 'Failed', olderThanMs: 3_600_000 })).toEqual(set(poisoned))
    expect(await ids({ tenantId: randomUUID() })).toEqual(set())
  })

  it('goes page by page over rows of one instant, though rows change meanwhile', async () => {
    const deals = await seedPoisonDeals(database(), 25)
    await database().query(
      `update messenger.deal_chat_provisions set updated_at = '2026-01-02T03:04:05.123456Z'`,
    )
    let changed = false
    const items = await allPages(async (cursor) => {
      const page = await list({}, 4, cursor)
      // A row that changes goes to the front, and is not met again.
      if (!changed) await newestFirst(page.items[0]?.dealId)
      changed = true
      return page
    })
    expect(items.map(({ dealId }) => dealId).toSorted()).toEqual(
      deals.map(({ dealId }) => dealId).toSorted(),
    )
  })

  it('shows rows whose times are no dates', async () => {
    await seedPoisonDeals(database(), 3)
    await database().query(
      `update messenger.deal_chat_provisions set next_attempt_at = 'infinity', updated_at = '-infinity'`,
    )
    const items = await allPages((cursor) => list({}, 1, cursor))
    expect(items).toHaveLength(3)
    expect(items[0]).toMatchObject({ nextAttemptAt: 'infinity', updatedAt: '-infinity' })
    expect(items[0]?.createdAt).toMatch(isoTime)
  })

  function newestFirst(dealId: string | undefined): Promise<unknown> {
    return database().query(
      'update messenger.deal_chat_provisions set updated_at = now() where deal_id = $1',
      [dealId],
    )
  }
})

describe('one deal', () => {
  it('is shown with its chat, events and who touched it, in UTC whatever the session', async () => {
    const deal = await seedDeal(database().admin, { attempts: 10 })
    const command = { targets: { dealIds: [deal.dealId] }, order: anna }
    await requeueProvisions(newOperator(), command)
    await newJob().cycle()
    await database().query(`alter database ${database().name} set timezone = 'Asia/Kathmandu'`)
    const detail = await showProvision(newOperator().db, referenceChatView, deal.dealId)
    await database().query(`alter database ${database().name} reset timezone`)
    expect(detail).toMatchObject({
      status: 'Ready',
      members: 3,
      activeParticipants: 3,
      feedRows: 1,
      chats: [{ id: detail?.chatId, kind: 'Deal', status: 'Active' }],
      events: [{ status: 'Provisioning', state: 'pending' }, { status: 'Ready' }],
      audit: [{ actor: 'anna', action: 'requeue', filter: null, reason: anna.reason }],
    })
    expect(detail?.events[0]?.occurredAt).toMatch(isoTime)
    expect(detail?.audit[0]?.at).toMatch(isoTime)
    expect(JSON.stringify(detail)).not.toContain('Север')
  })

  it('that is unknown is undefined', async () => {
    expect(await showProvision(newOperator().db, referenceChatView, randomUUID())).toBeUndefined()
  })
})

describe('the audit', () => {
  it('is listed newest first, by deal, actor and action', async () => {
    const deals = await seedPoisonDeals(database(), 3)
    const targets = { filter: { poison: true } }
    await requeueProvisions(newOperator(), { targets, order: anna })
    await requeueProvisions(newOperator(), {
      targets: { dealIds: [deals[0]?.dealId ?? ''] },
      order: boris,
    })
    const { db } = newOperator()
    const lines = await allPages((cursor) => listAudit(db, { limit: 2, cursor }))
    expect(lines.map(({ actor, affected }) => [actor, affected])).toEqual([
      ['boris', 1],
      ['anna', 3],
      ['anna', 1],
      ['anna', 1],
      ['anna', 1],
    ])
    const count = async (query: object) =>
      (await listAudit(db, { limit: 9, ...query })).items.length
    expect(await count({ dealId: deals[0]?.dealId })).toBe(2)
    expect(await count({ actor: 'boris' })).toBe(1)
    expect(await count({ action: 'requeue', actor: 'anna' })).toBe(4)
    expect(await count({ action: 'skip' })).toBe(0)
    await expect(count({ action: 'mend' })).rejects.toThrow(/one of requeue/)
    await expect(count({ dealId: 'x' })).rejects.toThrow(/Not a deal id/)
  })
})

it('the audit keeps its order where the numbers get a digit more', async () => {
  await seedPoisonDeals(database(), 120)
  await requeueProvisions(newOperator(), { targets: { filter: { poison: true } }, order: anna })
  const { db } = newOperator()
  const ids = (await allPages((cursor) => listAudit(db, { limit: 50, cursor }))).map(({ id }) =>
    Number(id),
  )
  expect(ids).toHaveLength(121)
  expect(ids).toEqual(ids.toSorted((a, b) => b - a))
})

describe('the runs', () => {
  it('are listed newest first, page by page', async () => {
    const job = newJob()
    await seedDeal(database().admin)
    for (let n = 0; n < 3; n += 1) await job.cycle()
    const { db } = newOperator()
    const runs = await allPages((cursor) => listRuns(db, { limit: 2, cursor }))
    expect(runs.map(({ outcome, provisioned }) => [outcome, provisioned])).toEqual([
      ['completed', 0],
      ['completed', 0],
      ['completed', 1],
    ])
    expect(runs[0]?.startedAt).toMatch(isoTime)
  })
})
