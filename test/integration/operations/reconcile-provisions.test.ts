/** Reconcile: each discrepancy is found, mended as the job would, and found no more. */

import { describe, expect, it } from 'vitest'
import { readyDeal, seedDeal, type SeededDeal } from '../../support/deals.js'
import { useTestDatabase } from '../../support/test-database.js'
import { anna, auditLines } from './operator-fixtures.js'
import { losses, ofDeal, useReconcile } from './reconcile-fixtures.js'

const database = useTestDatabase()
const { newJob, reconcile, seedReady, spoil, state } = useReconcile(database)

describe('a Ready deal that lost', () => {
  it.each([
    ['the chat', ['READY_WITHOUT_CHAT'], ['Ready', 'Ready']],
    ['the feed row', ['FEED_ROW_MISSING'], ['Ready']],
    ['two participants', ['MEMBERS_MISSING'], ['Ready']],
    ['its event', ['READY_EVENT_MISSING'], ['Ready']],
    ["the chat's id", ['CHAT_DIFFERS', 'READY_EVENT_MISSING'], ['Ready', 'Ready']],
  ] as const)('%s is found, mended, and found no more', async (what, names, events) => {
    const other = await seedReady()
    const deal = await seedReady()
    await losses[what](spoil, deal)
    const seen = await reconcile()
    expect(seen.findings.map(({ finding }) => finding)).toEqual(names)
    expect(seen).toMatchObject({ examined: 2, affected: 0, refused: [] })
    expect(new Set(seen.findings.map(({ dealId }) => dealId))).toEqual(new Set([deal.dealId]))
    expect(await auditLines(database())).toEqual([])

    expect(await reconcile({ mend: anna })).toMatchObject({ affected: 1, refused: [] })
    expect(await state(deal)).toEqual({
      ...(await state(other)),
      ...readyDeal,
      events,
      chatId: (await state(deal)).chatId,
    })
    expect((await reconcile()).findings).toEqual([])
    const lines = await auditLines(database())
    expect(lines[0]).toMatchObject({ actor: 'anna', action: 'reconcile', deal_id: deal.dealId })
    expect(lines[0]?.filter).toContain(names[0])
    expect(lines.at(-1)).toMatchObject({ deal_id: null, filter: 'all', affected: 1 })
  })

  it('members is told how many, and who left alone is no finding', async () => {
    const deal = await seedReady()
    await spoil(
      deal,
      `update messenger.participants set left_at = now() where chat_id in ${ofDeal} and role = 'Owner'`,
    )
    expect((await reconcile()).findings).toEqual([])
    await spoil(
      deal,
      `delete from messenger.participants where chat_id in ${ofDeal} and role = 'Member'`,
    )
    expect((await reconcile()).findings).toMatchObject([{ detail: '1 of 3, 1 left' }])
  })

  it('its chat to another kind, or to another tenant, is left to a person', async () => {
    const deal = await seedReady()
    await spoil(deal, `update messenger.chats set kind = 'Group' where deal_id = $1`)
    const { findings, affected } = await reconcile({ mend: anna })
    expect(affected).toBe(0)
    expect(findings).toMatchObject([
      { finding: 'CHAT_UNFIT', detail: 'CHAT_KIND_MISMATCH', outcome: 'left' },
    ])
    expect(findings[0]?.todo).toContain('messenger team')
  })

  it('what its chat can no longer take is refused with the guard’s code', async () => {
    const deal = await seedReady()
    await losses['the feed row'](spoil, deal)
    await spoil(deal, `update messenger.chats set status = 'Archived' where deal_id = $1`)
    const { findings, refused } = await reconcile({ mend: anna })
    expect(findings).toMatchObject([{ outcome: 'refused', why: 'guard:CHAT_NOT_ACTIVE' }])
    expect(refused).toMatchObject([{ dealId: deal.dealId }])
    expect(await auditLines(database())).toEqual([])
  })

  it('its event long ago is no finding: such events were deleted', async () => {
    const deal = await seedReady()
    await losses['its event'](spoil, deal)
    await spoil(
      deal,
      `update messenger.deal_chat_provisions set updated_at = now() - interval '8 days' where deal_id = $1`,
    )
    expect((await reconcile()).findings).toEqual([])
  })
})

describe('a deal that is not Ready', () => {
  const insertChat = (deal: SeededDeal) =>
    spoil(
      deal,
      `insert into messenger.chats (id, kind, status, deal_id, title)
       values (gen_random_uuid(), 'Deal', 'Active', $1, 'there')`,
    )

  it('but has a chat is made due, and the next cycle finishes it', async () => {
    const deal = await seedDeal(database().admin, { attempts: 10 })
    await insertChat(deal)
    const seen = await reconcile({ mend: anna })
    expect(seen.findings.map(({ finding, outcome }) => [finding, outcome])).toEqual([
      ['CHAT_BUT_NOT_READY', 'mended'],
      ['FEED_ROW_MISSING', 'mended'],
      ['MEMBERS_MISSING', 'mended'],
      ['FAILED_EVENT_MISSING', 'settled'],
    ])
    const again = await reconcile({ mend: anna })
    expect(new Set(again.findings.map(({ outcome }) => outcome))).toEqual(new Set(['settled']))
    await newJob().cycle()
    expect(await state(deal)).toMatchObject({ ...readyDeal, events: ['Provisioning', 'Ready'] })
    expect((await reconcile()).findings).toEqual([])
  })

  it('and whose cause stands is not made due in vain', async () => {
    const deal = await seedDeal(database().admin, { attempts: 3, members: [] })
    await insertChat(deal)
    const { findings } = await reconcile({ mend: anna })
    expect(findings[0]).toMatchObject({ outcome: 'refused', why: 'guard:NO_MEMBERS' })
    expect(await state(deal)).toMatchObject({ attempts: 3 })
  })

  it('and out of attempts, while crm heard otherwise: crm is told', async () => {
    const deal = await seedDeal(database().admin, { attempts: 10 })
    expect((await reconcile()).findings).toMatchObject([
      { finding: 'FAILED_EVENT_MISSING', detail: 'crm heard nothing' },
    ])
    await reconcile({ mend: anna, targets: { dealIds: [deal.dealId] } })
    expect(await state(deal)).toMatchObject({ attempts: 10, events: ['Failed'] })
    expect((await reconcile()).findings).toEqual([])
  })

  it('and on its way is no finding', async () => {
    await seedDeal(database().admin, { attempts: 2 })
    await seedDeal(database().admin, { status: 'Provisioning' })
    expect(await reconcile()).toMatchObject({ examined: 2, found: 0 })
  })
})
