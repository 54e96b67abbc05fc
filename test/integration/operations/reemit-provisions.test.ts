/** The re-emit: what it says of a deal, that a broken-off one goes on, and operators at once. */

import { describe, expect, it } from 'vitest'
import { reemitProvisions } from '../../../src/operations/reemit-provisions.js'
import { requeueProvisions } from '../../../src/operations/requeue-provisions.js'
import { dealState, seedDeal, type SeededDeal } from '../../support/deals.js'
import { useTestJobs } from '../../support/job.js'
import { useTestDatabase } from '../../support/test-database.js'
import {
  anna,
  auditLines,
  boris,
  poison,
  seedPoisonDeals,
  stopAfter,
  useOperators,
} from './operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
const newJob = useTestJobs(database)

const state = (deal: SeededDeal) => dealState(database().admin, deal.dealId)
const seedPoison = (count: number) => seedPoisonDeals(database(), count)

describe('two operators at once', () => {
  it('re-enqueue all poison: each row once, by one of them', async () => {
    const deals = await seedPoison(40)
    const results = await Promise.all([
      requeueProvisions(newOperator(), { targets: poison, order: anna }),
      requeueProvisions(newOperator(), { targets: poison, order: boris }),
    ])
    expect(results.reduce((sum, { affected }) => sum + affected, 0)).toBe(40)
    expect(results.flatMap(({ refused }) => refused)).toEqual([])
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Provisioning'])
    const rows = (await auditLines(database())).filter(({ deal_id }) => deal_id !== null)
    expect(rows.map(({ deal_id }) => deal_id).toSorted()).toEqual(
      deals.map(({ dealId }) => dealId).toSorted(),
    )
  })

  it('give the very same re-emit: each deal speaks once', async () => {
    const deals = await seedPoison(40)
    const command = { targets: poison, order: anna }
    const results = await Promise.all([
      reemitProvisions(newOperator(), command),
      reemitProvisions(newOperator(), command),
    ])
    expect(results.reduce((sum, { affected }) => sum + affected, 0)).toBe(40)
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Failed'])
  })
})

describe('an order of its own', () => {
  const ofJob = { ...anna, isOfOneCommand: true } as const

  it.each([1, 3])('over %i given deals does each once, also after its end', async (count) => {
    const deals = await seedPoison(count)
    const targets = { dealIds: deals.map(({ dealId }) => dealId) }
    const first = await reemitProvisions(newOperator(), { targets, order: ofJob })
    expect(first).toMatchObject({ affected: count, skipped: 0, doneBefore: 0 })
    const lines = await auditLines(database())
    const again = await reemitProvisions(newOperator(), { targets, order: ofJob })
    expect(again).toMatchObject({ affected: 0, skipped: count, doneBefore: count })
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Failed'])
    expect(await auditLines(database())).toEqual(lines)
  })
})

describe('reemit', () => {
  it('says Ready of Ready, Failed of what is out of attempts, Provisioning of all others', async () => {
    const ready = await seedDeal(database().admin)
    await newJob().cycle()
    const [poisoned] = await seedPoison(1)
    const retrying = await seedDeal(database().admin, { attempts: 4 })
    const dealIds = [ready, poisoned, retrying].map((deal) => deal?.dealId ?? '')
    await reemitProvisions(newOperator(), { targets: { dealIds }, order: anna })
    const events = async (deal?: SeededDeal) => deal && (await state(deal)).events
    expect(await events(ready)).toEqual(['Ready', 'Ready'])
    expect(await events(poisoned)).toEqual(['Failed'])
    expect(await events(retrying)).toEqual(['Provisioning'])
  })

  it('leaves the row itself as it is', async () => {
    await seedPoison(1)
    const look = () => database().query('select xmin, * from messenger.deal_chat_provisions')
    const before = await look()
    await reemitProvisions(newOperator(), { targets: poison, order: anna })
    expect(await look()).toEqual(before)
  })

  it('stopped half way goes on; given again when all is done, speaks again', async () => {
    const deals = await seedPoison(3)
    const command = { targets: poison, order: anna }
    await reemitProvisions(newOperator(), { ...command, ...stopAfter(2) })
    expect(await reemitProvisions(newOperator(), command)).toMatchObject({
      affected: 1,
      skipped: 2,
    })
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Failed'])
    expect(await reemitProvisions(newOperator(), command)).toMatchObject({
      affected: 3,
      skipped: 0,
    })
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Failed', 'Failed'])
  })

  it('of several named deals knows the same command again, and no other', async () => {
    const deals = await seedPoison(3)
    const dealIds = deals.map(({ dealId }) => dealId)
    const command = { targets: { dealIds }, order: anna }
    await reemitProvisions(newOperator(), { ...command, ...stopAfter(1) })
    const other = { targets: { dealIds: dealIds.slice(0, 2) }, order: anna }
    expect(await reemitProvisions(newOperator(), other)).toMatchObject({ affected: 2 })
    expect(await reemitProvisions(newOperator(), command)).toMatchObject({
      affected: 2,
      skipped: 1,
    })
  })
})
