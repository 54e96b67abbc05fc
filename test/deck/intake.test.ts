/** Messages of crm that were set aside: found from the overview, read, taken in after all, discarded. */

import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { dealState, readyDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { dealCreated, rawMessage, useTestHandlers } from '../integration/intake-fixtures.js'
import { emptyTables, useDeck } from './deck-fixtures.js'
import { byAnna, confirm, main, notice, useVisits } from './deck-visits.js'

const database = useTestDatabase()
const newHandler = useTestHandlers(database)

describeInBrowser('what was set aside', () => {
  const deck = useDeck(database)
  const at = useVisits(deck)
  beforeEach(() => emptyTables(database()))

  const left = () =>
    database().query<{ error: string }>('select error from messenger.intake_parked order by id')
  const audit = () =>
    database().query(
      `select actor, action, deal_id as "dealId", reason from messenger.chat_provision_audit
       order by id`,
    )

  /** Sets one message aside for a rule of the table, which is then taken away; gives its deal. */
  async function parkForARule(): Promise<string> {
    const table = sql`messenger.deal_chat_provisions`
    await sql`alter table ${table} add constraint no_x check (title <> 'x')`.execute(
      database().admin,
    )
    const message = dealCreated({ title: 'x' })
    await newHandler().take(message)
    await sql`alter table ${table} drop constraint no_x`.execute(database().admin)
    return message.dealId
  }

  it('leads from the overview to the message, which is taken in and has its chat', async () => {
    const dealId = await parkForARule()
    const page = await at('')
    await main(page).getByRole('link', { name: '1 message of crm set aside' }).click()
    await main(page).getByRole('row').nth(1).getByRole('link').click()
    expect(await main(page).textContent()).toContain('pin.crm.deal-created.v1')
    await page.getByText('What crm wrote').click()
    expect(await page.getByLabel('What crm wrote').textContent()).toContain(dealId)
    await page.getByRole('link', { name: 'Take in' }).click()
    await confirm(page, 'Take in')
    await notice(page, '1 message taken in')
    await page.getByText('No message is set aside').waitFor()
    expect(await dealState(database().admin, dealId)).toMatchObject({
      ...readyDeal,
      attempts: 0,
    })
    expect(await audit()).toEqual([{ ...byAnna, action: 'intake-retry', dealId }])
  })

  it('takes in all that can be read by now, and tells why the others stay', async () => {
    const dealId = await parkForARule()
    await newHandler().take(rawMessage('not json'))
    const page = await at('/intake')
    await page.getByRole('link', { name: 'Take all in' }).click()
    expect(await main(page).textContent()).toContain("it still can't be read: NOT_JSON")
    await confirm(page, 'Take in all', '1')
    await notice(page, "1 message taken in. 1 message refused: it still can't be read: NOT_JSON")
    expect(await left()).toMatchObject([{ error: expect.stringMatching(/^NOT_JSON/) as unknown }])
    expect(await dealState(database().admin, dealId)).toMatchObject({ status: 'Ready' })
  })

  it('discards the chosen after their number was typed, and nothing else', async () => {
    await newHandler().take(rawMessage('not json'))
    await newHandler().take(rawMessage('{}'))
    const page = await at('/intake', /400/)
    const row = main(page).getByRole('row', { name: 'NOT_JSON' })
    await row.getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByLabel('Type 1 to confirm').fill('all')
    await confirm(page, 'Discard')
    expect(await page.getByRole('alert').textContent()).toContain('Type 1 to confirm')
    expect(await left()).toHaveLength(2)
    await confirm(page, 'Discard', '1')
    await notice(page, '1 message discarded')
    expect(await left()).toMatchObject([
      { error: expect.stringMatching(/^SHAPE_INVALID/) as unknown },
    ])
    expect(await audit()).toEqual([{ ...byAnna, action: 'intake-discard', dealId: null }])
  })

  it('that somebody else has dealt with is told in place', async () => {
    await newHandler().take(rawMessage('not json'))
    const page = await at('/intake', /409/)
    await main(page).getByRole('row').nth(1).getByRole('link').click()
    await page.getByRole('link', { name: 'Discard' }).click()
    await database().query('delete from messenger.intake_parked')
    await page.getByLabel('Type 1 to confirm').fill('1')
    await confirm(page, 'Discard')
    expect(await page.getByRole('alert').textContent()).toContain('There is nothing left to do')
    expect(await page.getByLabel('Reason').inputValue()).toBe(byAnna.reason)
  })
})
