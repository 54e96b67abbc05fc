/** A re-enqueue of many deals taken back by the line that closes it. */

import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { requeueProvisions } from '../../../src/operations/requeue-provisions.js'
import type { Targets } from '../../../src/operations/provision-command.js'
import { undoChange } from '../../../src/operations/undo/undo-change.js'
import { dealState, type SeededDeal } from '../../support/deals.js'
import { Rival } from '../../support/rival.js'
import { useTestDatabase } from '../../support/test-database.js'
import {
  anna,
  auditLines,
  boris,
  seedPoisonDeals,
  stopAfter,
  useOperators,
} from './operator-fixtures.js'
import { rowOf, undo, undoContext } from './undo-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)

afterEach(async () => {
  await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
    messenger.outbox_events, messenger.chats, messenger.participants, messenger.chat_events`.execute(
    database().admin,
  )
})

const state = ({ dealId }: SeededDeal) => dealState(database().admin, dealId)
const row = ({ dealId }: SeededDeal) => rowOf(database(), dealId)
describe('a re-enqueue of many', () => {
  const targets: Targets = { filter: { errorPrefix: 'guard:' } }

  async function seedMany(count: number): Promise<SeededDeal[]> {
    await seedPoisonDeals(database(), count)
    await database().query(
      `update messenger.deal_chat_provisions set last_error = 'guard:TITLE_BLANK'`,
    )
    return (
      await database().query<{ id: string; deal_id: string }>(
        'select id, deal_id from messenger.deal_chat_provisions order by id',
      )
    ).map(({ id, deal_id }) => ({ id, dealId: deal_id, members: [] }))
  }

  it('is taken back by its closing line, but for what something has come of', async () => {
    const deals = await seedMany(5)
    const before = await Promise.all(deals.map(row))
    const order = { ...anna, reason: 'the guard was mended' }
    const { auditId } = await requeueProvisions(newOperator(), { targets, order })
    const made = deals[2] as SeededDeal
    const rival = await Rival.begin(database().adminUrl)
    await rival.provision(made.dealId)
    await rival.commit()

    const result = await undo(newOperator(), auditId)
    expect(result).toMatchObject({
      affected: 4,
      refused: [{ dealId: made.dealId, code: 'CHANGED_SINCE' }],
    })
    for (const [n, deal] of deals.entries()) {
      if (deal !== made) expect(await row(deal)).toBe(before[n])
    }
    expect(await state(made)).toMatchObject({ status: 'Ready' })
    const closing = (await auditLines(database())).at(-1)
    expect(closing).toMatchObject({ action: 'undo', deal_id: null, affected: 4 })
    expect(closing?.filter).toBe(`line=${auditId ?? ''} error=guard:`)
    expect(await undo(newOperator(), auditId)).toMatchObject({
      affected: 0,
      refused: [{ code: 'ALREADY_UNDONE' }],
    })
  })

  it('leaves an earlier one of the same words alone', async () => {
    const [deal] = (await seedMany(1)) as [SeededDeal]
    await requeueProvisions(newOperator(), { targets, order: anna })
    const between = await row(deal)
    const { auditId } = await requeueProvisions(newOperator(), { targets, order: anna })
    expect(await undo(newOperator(), auditId)).toMatchObject({ affected: 1, refused: [] })
    expect(await row(deal)).toBe(between)
  })

  it('broken off, goes on by being given again', async () => {
    const deals = await seedMany(5)
    const before = await Promise.all(deals.map(row))
    const { auditId } = await requeueProvisions(newOperator(), { targets, order: anna })
    const command = { auditId: auditId ?? '', order: boris }
    const first = await undoChange(undoContext(newOperator()), { ...command, ...stopAfter(2) })
    expect(first).toMatchObject({ affected: 2, stopped: true, auditId: null })
    const rest = await undoChange(undoContext(newOperator()), command)
    expect(rest).toMatchObject({ affected: 3, skipped: 2, refused: [], stopped: false })
    expect(await Promise.all(deals.map(row))).toEqual(before)
    expect((await auditLines(database())).at(-1)).toMatchObject({ deal_id: null, affected: 5 })
  })

  it('of given deals too', async () => {
    const deals = await seedMany(3)
    const before = await Promise.all(deals.map(row))
    const dealIds = deals.map(({ dealId }) => dealId)
    const { auditId } = await requeueProvisions(newOperator(), {
      targets: { dealIds },
      order: anna,
    })
    expect(await undo(newOperator(), auditId)).toMatchObject({ affected: 3, refused: [] })
    expect(await Promise.all(deals.map(row))).toEqual(before)
  })
})
