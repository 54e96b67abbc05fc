/** Who gets into The Deck, how, and whose forms are taken. */

import { beforeEach, expect, it } from 'vitest'
import { describeInBrowser, useBrowser } from '../support/browser.js'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { adminToken, emptyTables, logIn, readToken, useDeck } from './deck-fixtures.js'

const database = useTestDatabase()

describeInBrowser('the login', () => {
  const open = useBrowser()
  const deck = useDeck(database)
  beforeEach(() => emptyTables(database()))

  it('leads to the page that was asked for, and keeps the name', async () => {
    const page = await open()
    await logIn(page, deck().url('/provisions?state=Failed'), adminToken, 'anna')
    expect(page.url()).toBe(deck().url('/provisions?state=Failed'))
    expect(await page.getByText('anna').count()).toBe(1)
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: 'deck_session', httpOnly: true, sameSite: 'Lax' })
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.goto(deck().url('/runs'))
    expect(new URL(page.url()).pathname).toBe('/deck/login')
  })

  it('says what a wrong token is, and keeps the rest', async () => {
    const page = await open({ mayComplain: /401/ })
    await page.goto(deck().url('/runs'))
    await page.getByLabel('Token').fill('wrong')
    await page.getByLabel('Your name').fill('anna')
    await page.getByRole('button', { name: 'Log in' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('DECK_READ_TOKEN')
    await page.getByLabel('Token').fill(adminToken)
    await page.getByRole('button', { name: 'Log in' }).click()
    expect(page.url()).toBe(deck().url('/runs'))
    expect(await page.getByText('anna').count()).toBe(1)
  })

  it('a reader sees no action, and may not do any', async () => {
    await seedDeal(database().admin)
    const page = await open({ mayComplain: /403/ })
    await logIn(page, deck().url('/provisions'), readToken)
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.getByRole('button', { name: 'Re-enqueue' }).count()).toBe(0)
    await page.goto(deck().url('/provisions/requeue?deal=0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00'))
    expect(await page.getByRole('main').textContent()).toContain('DECK_ADMIN_TOKEN')
  })

  it('a session that ends in the middle of an action loses nothing that was typed', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain: /401/ })
    await logIn(page, deck().url('/provisions'), adminToken)
    await page.getByLabel(`Choose deal ${dealId}`).check()
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    await page.getByLabel('Reason').fill('the guard was mended')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    await page.getByLabel('Token').fill(adminToken)
    await page.getByLabel('Your name').fill('anna')
    await page.getByRole('button', { name: 'Log in' }).click()
    expect(await page.getByRole('main').textContent()).toContain('the guard was mended')
    await page.getByRole('button', { name: 'Send it now' }).click()
    await page.getByText('1 deal re-enqueued').waitFor()
    const audit = await database().query(
      'select actor, action, reason from messenger.chat_provision_audit',
    )
    expect(audit).toEqual([{ actor: 'anna', action: 'requeue', reason: 'the guard was mended' }])
  })
})
