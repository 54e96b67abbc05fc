/** A re-enqueue taken back: only while nothing has come of it, and as if it had not been. */

import { describe, expect, it } from 'vitest'
import { listAudit } from '../../../src/operations/audit-trail.js'
import { reemitProvisions } from '../../../src/operations/reemit-provisions.js'
import { requeueProvisions } from '../../../src/operations/requeue-provisions.js'
import type { OperatorContext, Targets } from '../../../src/operations/provision-command.js'
import { dealState, seedDeal, type SeededDeal } from '../../support/deals.js'
import { useTestJobs } from '../../support/job.js'
import { Rival, untilBlocked } from '../../support/rival.js'
import { useTestDatabase } from '../../support/test-database.js'
import { anna, auditLines, boris, maxAttempts, useOperators } from './operator-fixtures.js'
import { rowOf, undo } from './undo-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
const newJob = useTestJobs(database)

const state = ({ dealId }: SeededDeal) => dealState(database().admin, dealId)
const row = ({ dealId }: SeededDeal) => rowOf(database(), dealId)
const requeue = (operator: OperatorContext, deal: SeededDeal) =>
  requeueProvisions(operator, { targets: { dealIds: [deal.dealId] }, order: anna })

async function seedPoison(): Promise<SeededDeal> {
  const deal = await seedDeal(database().admin, { attempts: maxAttempts, age: '3 hours' })
  await database().query(
    `update messenger.deal_chat_provisions set last_error = 'guard:TITLE_BLANK' where id = $1`,
    [deal.id],
  )
  return deal
}

describe('a re-enqueue is taken back', () => {
  it('of a poison row: the row is what it was to the microsecond, and crm hears Failed last', async () => {
    const deal = await seedPoison()
    const before = await row(deal)
    const { auditId } = await requeue(newOperator(), deal)
    expect(await row(deal)).not.toBe(before)
    const result = await undo(newOperator(), auditId)
    expect(result).toMatchObject({ affected: 1, skipped: 0, refused: [], stopped: false })
    expect(await row(deal)).toBe(before)
    expect((await state(deal)).events).toEqual(['Provisioning', 'Failed'])

    const { items } = await listAudit(newOperator().db, { dealId: deal.dealId, limit: 10 })
    expect(items).toMatchObject([
      {
        ...{ id: result.auditId, action: 'undo', actor: 'boris', affected: 1 },
        ...{ filter: `line=${auditId ?? ''}`, undoes: auditId, undoneBy: null, canBeUndone: false },
      },
      { id: auditId, action: 'requeue', undoneBy: result.auditId, canBeUndone: false },
    ])
  })

  it.each(['Failed', 'Provisioning'] as const)(
    'of a %s row with attempts left, of which crm heard nothing',
    async (status) => {
      const deal = await seedDeal(database().admin, { status, attempts: 4 })
      const before = await row(deal)
      const { auditId } = await requeue(newOperator(), deal)
      const { items } = await listAudit(newOperator().db, { limit: 10 })
      expect(items).toMatchObject([{ id: auditId, canBeUndone: true, undoneBy: null }])
      expect(await undo(newOperator(), auditId)).toMatchObject({ affected: 1 })
      expect(await row(deal)).toBe(before)
      expect((await state(deal)).events).toEqual([])
    },
  )

  it('whatever time the row was due at', async () => {
    const deal = await seedPoison()
    for (const due of ['infinity', '-infinity', '2020-02-29 12:00:00.000001+03']) {
      await database().query('update messenger.deal_chat_provisions set next_attempt_at = $1', [
        due,
      ])
      const before = await row(deal)
      await undo(newOperator(), (await requeue(newOperator(), deal)).auditId)
      expect(await row(deal)).toBe(before)
    }
  })

  it('by the limit that is in force now: crm hears Failed where the row is poison under it', async () => {
    const deal = await seedDeal(database().admin, { attempts: 4 })
    const { auditId } = await requeue(newOperator(), deal)
    await undo({ ...newOperator(), maxAttempts: 3 }, auditId)
    expect((await state(deal)).events).toEqual(['Failed'])
    const other = await seedPoison()
    const { auditId: second } = await requeue(newOperator(), other)
    await undo({ ...newOperator(), maxAttempts: 20 }, second)
    expect((await state(other)).events).toEqual(['Provisioning'])
  })
})

describe('a re-enqueue stays', () => {
  const refusal = (code: string, why: string) => ({
    affected: 0,
    auditId: null,
    refused: [{ code, why: expect.stringContaining(why) as unknown }],
  })

  it('once it was taken back', async () => {
    const deal = await seedPoison()
    const { auditId } = await requeue(newOperator(), deal)
    await undo(newOperator(), auditId)
    const before = await row(deal)
    expect(await undo(newOperator(), auditId)).toMatchObject(
      refusal('ALREADY_UNDONE', 'boris has taken it back at 20'),
    )
    expect(await row(deal)).toBe(before)
    expect((await state(deal)).events).toEqual(['Provisioning', 'Failed'])
  })

  it('once the job has made the chat, or has tried to', async () => {
    const good = await seedPoison()
    const bad = await seedDeal(database().admin, { attempts: maxAttempts, members: [] })
    const lines = [await requeue(newOperator(), good), await requeue(newOperator(), bad)]
    await newJob().cycle()
    const before = [await row(good), await row(bad)]
    const ends = []
    for (const { auditId } of lines) ends.push(await undo(newOperator(), auditId))
    expect(ends).toMatchObject([
      refusal('CHANGED_SINCE', 'its chat is made by now'),
      refusal('CHANGED_SINCE', 'the job has tried it since'),
    ])
    expect([await row(good), await row(bad)]).toEqual(before)
    expect((await auditLines(database())).map(({ action }) => action)).not.toContain('undo')
  })

  it('once someone else has written the row, though all that an undo sets is the same', async () => {
    const deal = await seedPoison()
    const { auditId } = await requeue(newOperator(), deal)
    await database().query(`update messenger.deal_chat_provisions set title = 'mended'`)
    expect(await undo(newOperator(), auditId)).toMatchObject(
      refusal('CHANGED_SINCE', 'its row was changed since'),
    )
    expect((await state(deal)).events).toEqual(['Provisioning'])
  })

  it('once another re-enqueue came, which can be taken back itself', async () => {
    const deal = await seedPoison()
    const first = await requeue(newOperator(), deal)
    const targets: Targets = { dealIds: [deal.dealId] }
    const between = await row(deal)
    const second = await requeueProvisions(newOperator(), { targets, order: boris })
    expect(await undo(newOperator(), first.auditId)).toMatchObject(
      refusal('CHANGED_SINCE', 'last by boris (requeue)'),
    )
    expect(await undo(newOperator(), second.auditId)).toMatchObject({ affected: 1 })
    expect(await row(deal)).toBe(between)
  })

  it('where nothing was kept, and where there is no such line', async () => {
    const deal = await seedPoison()
    const targets: Targets = { dealIds: [deal.dealId] }
    const { auditId } = await reemitProvisions(newOperator(), { targets, order: anna })
    expect(await undo(newOperator(), auditId)).toMatchObject(
      refusal('NOT_UNDOABLE', 'by which reemit could'),
    )
    await requeue(newOperator(), deal)
    const old = await database().query<{ id: string }>(
      `update messenger.chat_provision_audit set before = null where action = 'requeue' returning id`,
    )
    expect(await undo(newOperator(), old[0]?.id ?? '')).toMatchObject(
      refusal('NOT_UNDOABLE', 'by which requeue could'),
    )
    await expect(undo(newOperator(), '999999')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(undo(newOperator(), '12x')).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  })

  it('for all but one of those who take it back at once', async () => {
    const deal = await seedPoison()
    const before = await row(deal)
    const { auditId } = await requeue(newOperator(), deal)
    const ends = await Promise.all([1, 2, 3, 4].map(() => undo(newOperator(), auditId)))
    expect(ends.filter(({ affected }) => affected === 1)).toHaveLength(1)
    const codes = ends.flatMap(({ refused }) => refused.map(({ code }) => code))
    expect(codes).toHaveLength(3)
    for (const code of codes) expect(['ALREADY_UNDONE', 'CHANGED_SINCE']).toContain(code)
    expect(await row(deal)).toBe(before)
    expect((await state(deal)).events).toEqual(['Provisioning', 'Failed'])
  })

  it('where the job that holds the row just now finishes it', async () => {
    const deal = await seedPoison()
    const { auditId } = await requeue(newOperator(), deal)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(deal.dealId)
    const undone = undo(newOperator('patient'), auditId)
    await untilBlocked(database(), 'patient')
    await rival.provision(deal.dealId)
    await rival.commit()
    expect(await undone).toMatchObject(refusal('CHANGED_SINCE', 'its chat is made'))
    expect(await state(deal)).toMatchObject({ status: 'Ready', events: ['Provisioning', 'Ready'] })
  })

  it('for now, where someone holds the row for long', async () => {
    const deal = await seedPoison()
    const { auditId } = await requeue(newOperator(), deal)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(deal.dealId)
    expect(await undo(newOperator(), auditId)).toMatchObject(refusal('NOT_NOW', 'try again'))
    await rival.rollback()
    expect(await undo(newOperator(), auditId)).toMatchObject({ affected: 1 })
  })
})
