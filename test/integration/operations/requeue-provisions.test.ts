/** The re-enqueue: which rows are meant, what becomes of them, and how a broken-off one goes on. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Targets } from '../../../src/operations/provision-command.js'
import { requeueProvisions } from '../../../src/operations/requeue-provisions.js'
import { dealState, seedDeal, type SeededDeal } from '../../support/deals.js'
import { useTestJobs } from '../../support/job.js'
import { Rival, untilBlocked } from '../../support/rival.js'
import { useTestDatabase } from '../../support/test-database.js'
import {
  anna,
  auditLines,
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

describe('requeue', () => {
  it('of poison: attempts 0, due now, crm sees "creating" again, on record', async () => {
    const [deal] = await seedPoison(1)
    if (deal === undefined) throw new Error('no deal')
    const targets = { dealIds: [deal.dealId] }
    const result = await requeueProvisions(newOperator(), { targets, order: anna })
    const [line] = await database().query<{ id: string }>(
      'select id from messenger.chat_provision_audit',
    )
    expect(result).toEqual({
      ...{ affected: 1, skipped: 0, doneBefore: 0, refused: [], stopped: false },
      auditId: line?.id,
    })
    expect(await state(deal)).toMatchObject({
      status: 'Failed',
      attempts: 0,
      backedOff: false,
      events: ['Provisioning'],
    })
    expect(await auditLines(database())).toEqual([
      {
        actor: 'anna',
        action: 'requeue',
        deal_id: deal.dealId,
        filter: null,
        reason: anna.reason,
        affected: 1,
      },
    ])
  })

  it('of a row that still has attempts says nothing to crm', async () => {
    const deal = await seedDeal(database().admin, { status: 'Provisioning', attempts: 3 })
    await requeueProvisions(newOperator(), { targets: { dealIds: [deal.dealId] }, order: anna })
    expect(await state(deal)).toMatchObject({ status: 'Provisioning', attempts: 0, events: [] })
  })

  it('refuses Ready and unknown deals by name, and does the others', async () => {
    const [good] = await seedPoison(1)
    const ready = await seedDeal(database().admin)
    await newJob().cycle()
    const unknown = randomUUID()
    const dealIds = [ready.dealId, unknown, good?.dealId ?? '']
    const result = await requeueProvisions(newOperator(), { targets: { dealIds }, order: anna })
    expect(result.affected).toBe(1)
    expect(result.refused).toContainEqual({ dealId: ready.dealId, why: 'it is Ready already' })
    expect(result.refused).toContainEqual({
      dealId: unknown,
      why: 'there is no provision for this deal',
    })
  })

  it('of a filter takes what matches and is not Ready; a closing line carries filter and count', async () => {
    const tenant = randomUUID()
    const other = await seedDeal(database().admin, { attempts: 10 })
    for (let n = 0; n < 3; n += 1) {
      await seedDeal(database().admin, { attempts: 10, tenantId: tenant, age: '3 hours' })
    }
    const young = await seedDeal(database().admin, { tenantId: tenant, age: '1 hour', attempts: 1 })
    const targets = { filter: { tenantId: tenant, olderThanMs: 7_200_000 } }
    const result = await requeueProvisions(newOperator(), { targets, order: anna })
    expect(result).toMatchObject({ affected: 3, refused: [] })
    expect(await state(other)).toMatchObject({ attempts: 10 })
    expect(await state(young)).toMatchObject({ attempts: 1 })
    const lines = await auditLines(database())
    expect(lines).toHaveLength(4)
    expect(new Set(lines.map(({ filter }) => filter))).toEqual(
      new Set([`tenant=${tenant} older-than=2h`]),
    )
    expect(lines.at(-1)).toMatchObject({ deal_id: null, affected: 3 })
  })

  it('takes an error by how it begins, whatever it has of pattern characters', async () => {
    const errors = ['guard:ROLE_UNKNOWN', 'guard:ROLEXUNKNOWN', 'data:22001', null]
    for (const lastError of errors) {
      const deal = await seedDeal(database().admin, { attempts: 10 })
      await database().query(
        'update messenger.deal_chat_provisions set last_error = $2 where deal_id = $1',
        [deal.dealId, lastError],
      )
    }
    const count = async (errorPrefix: string): Promise<number> => {
      const command = { targets: { filter: { errorPrefix } }, order: 'dry run' as const }
      return (await requeueProvisions(newOperator(), command)).affected
    }
    expect([await count('guard:ROLE_U'), await count('guard:'), await count('%')]).toEqual([
      1, 2, 0,
    ])
  })

  it('as a dry run changes nothing and waits for nobody', async () => {
    const [held] = await seedPoison(3)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(held?.dealId ?? '')
    const command = { targets: poison, order: 'dry run' as const }
    expect(await requeueProvisions(newOperator(), command)).toMatchObject({ affected: 3 })
    await rival.rollback()
    expect(await auditLines(database())).toEqual([])
    expect(held && (await state(held))).toMatchObject({ attempts: 10, events: [] })
  })

  it('over its cap is refused with the count, and changes nothing', async () => {
    await seedPoison(3)
    const command = { targets: poison, order: anna, atMost: 2 }
    await expect(requeueProvisions(newOperator(), command)).rejects.toMatchObject({
      code: 'TOO_MANY',
      message: expect.stringContaining('3 deals') as unknown,
    })
    expect(await auditLines(database())).toEqual([])
  })

  it('stopped half way, the same command again does the rest and repeats nothing', async () => {
    const deals = await seedPoison(5)
    const first = await requeueProvisions(newOperator(), {
      targets: { filter: { status: 'Failed' } },
      order: anna,
      ...stopAfter(2),
    })
    expect(first).toMatchObject({ affected: 2, stopped: true })
    const attempts = await Promise.all(deals.map(async (deal) => (await state(deal)).attempts))
    expect(attempts).toEqual([0, 0, 10, 10, 10])

    const command = { targets: { filter: { status: 'Failed' as const } }, order: anna }
    const second = await requeueProvisions(newOperator(), command)
    expect(second).toMatchObject({ affected: 3, skipped: 2, doneBefore: 2, refused: [] })
    expect(second).toMatchObject({ stopped: false, auditId: expect.any(String) as unknown })
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Provisioning'])
    const lines = await auditLines(database())
    expect(lines.filter(({ deal_id }) => deal_id !== null)).toHaveLength(5)
    expect(lines.at(-1)).toMatchObject({ deal_id: null, filter: 'status=Failed', affected: 5 })
  })

  it('goes on with a row that has failed anew since the command was broken off', async () => {
    const [first] = await seedPoison(2)
    const targets: Targets = { filter: { status: 'Failed' } }
    await requeueProvisions(newOperator(), { targets, order: anna, ...stopAfter(1) })
    await database().query(
      'update messenger.deal_chat_provisions set attempts = 10, updated_at = clock_timestamp() where id = $1',
      [first?.id],
    )
    const again = await requeueProvisions(newOperator(), { targets, order: anna })
    expect(again).toMatchObject({ affected: 2, skipped: 0 })
  })

  it('whose database goes away in the middle says so, and goes on after', async () => {
    const deals = await seedPoison(4)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(deals[2]?.dealId ?? '')
    const doomed = requeueProvisions(newOperator('doomed'), { targets: poison, order: anna })
    const failing = expect(doomed).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringContaining('same command again') as unknown,
    })
    await untilBlocked(database(), 'doomed')
    await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'doomed' and wait_event_type = 'Lock'`,
    )
    await failing
    await rival.rollback()
    const rest = await requeueProvisions(newOperator(), { targets: poison, order: anna })
    expect(rest).toMatchObject({ affected: 2, refused: [] })
    for (const deal of deals) expect((await state(deal)).events).toEqual(['Provisioning'])
  })

  it('of a row that someone holds for long is refused, and the others are done', async () => {
    const [held, free] = await seedPoison(2)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(held?.dealId ?? '')
    const dealIds = [held?.dealId ?? '', free?.dealId ?? '']
    const result = await requeueProvisions(newOperator(), { targets: { dealIds }, order: anna })
    await rival.rollback()
    expect(result).toMatchObject({ affected: 1, refused: [{ dealId: held?.dealId }] })
    expect(result.refused[0]?.why).toContain('try again')
  })

  it('waits for the job that holds the row, and sees what it left', async () => {
    const [deal] = await seedPoison(1)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(deal?.dealId ?? '')
    const requeued = requeueProvisions(newOperator('patient'), { targets: poison, order: anna })
    await untilBlocked(database(), 'patient')
    await rival.provision(deal?.dealId ?? '')
    await rival.commit()
    expect(await requeued).toMatchObject({ affected: 0, skipped: 1, refused: [] })
    expect(deal && (await state(deal))).toMatchObject({ status: 'Ready', events: ['Ready'] })
    expect(await auditLines(database())).toEqual([])
  })
})
