/** An open page follows what happens, and never under the hands of who is at work on it. */

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { describeInBrowser, useBrowser } from '../support/browser.js'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { shifts, watchShifts } from './layout-shifts.js'
import {
  adminToken,
  emptyTables,
  logIn,
  serveDeck,
  tokens,
  type ServedDeck,
} from './deck-fixtures.js'

const database = useTestDatabase()

describeInBrowser('a page that is open', () => {
  const open = useBrowser()
  const served: ServedDeck[] = []
  let deck: ServedDeck
  let port: string

  async function serve(): Promise<ServedDeck> {
    const started = await serveDeck(database(), { ...tokens, HTTP_PORT: port })
    served.push(started)
    return started
  }
  beforeEach(async () => {
    await emptyTables(database())
    port = String(await findFreePort())
    deck = await serve()
  })
  afterEach(() => Promise.all(served.splice(0).map(({ app }) => app.stop())))
  afterAll(() => expect(served).toEqual([]))

  const rows = (page: Page) => page.locator('tbody tr').count()
  const mark = (page: Page) => page.locator('#live').textContent()
  const isLive = (page: Page) => page.locator('#live[data-state=live]').waitFor()

  it('shows what others have changed, without any layout shift', async () => {
    const page = await open()
    await seedDeal(database().admin)
    await logIn(page, deck.url('/provisions'), adminToken)
    await isLive(page)
    await watchShifts(page)
    for (let count = 2; count <= 4; count++) {
      await seedDeal(database().admin, { attempts: 12 - count })
      await waitFor(`${count} rows`, async () => (await rows(page)) === count)
    }
    expect(await shifts(page)).toEqual([])
  })

  it('the overview too: its figures change and nothing moves', async () => {
    const page = await open()
    await logIn(page, deck.url(), adminToken)
    await isLive(page)
    await watchShifts(page)
    await seedDeal(database().admin, { attempts: 10 })
    await seedDeal(database().admin)
    await page.getByText('1 deal out of attempts').waitFor()
    expect(await page.locator('.figure', { hasText: 'Backlog' }).textContent()).toContain('2')
    expect(await shifts(page)).toEqual([])
  })

  it('waits while somebody types, chooses or reads a table, and goes on afterwards', async () => {
    const page = await open()
    const { dealId } = await seedDeal(database().admin)
    await logIn(page, deck.url('/provisions'), adminToken)
    await isLive(page)
    await page.getByLabel(`Choose deal ${dealId}`).check()
    await page.getByLabel('Last error begins').fill('gua')
    await seedDeal(database().admin)
    await page.locator('#live', { hasText: 'waits while you type' }).waitFor()
    expect(await page.getByLabel('Last error begins').inputValue()).toBe('gua')
    expect(await rows(page)).toBe(1)
    await page.getByLabel('Last error begins').fill('')
    await page.getByRole('heading', { level: 1 }).click()
    await page.locator('#live', { hasText: 'waits while rows are chosen' }).waitFor()
    await page.getByLabel(`Choose deal ${dealId}`).uncheck()
    await page.getByRole('heading', { level: 1 }).click()
    await waitFor('the second row', async () => (await rows(page)) === 2)
  })

  it('changes nothing while something else was chosen, or text is marked', async () => {
    const page = await open()
    await seedDeal(database().admin)
    await logIn(page, deck.url('/provisions'), adminToken)
    await isLive(page)
    const heading = page.getByRole('heading', { level: 1 })
    await page.getByLabel('State').selectOption('Failed')
    await heading.click()
    await seedDeal(database().admin)
    await page.locator('#live', { hasText: 'waits while a field is changed' }).waitFor()
    expect(await page.getByLabel('State').inputValue()).toBe('Failed')
    expect(await rows(page)).toBe(1)
    await page.getByLabel('State').selectOption('All')
    await heading.selectText()
    await page.getByLabel('State').blur()
    await page.locator('#live', { hasText: 'waits while text is marked' }).waitFor()
    expect(await page.evaluate('String(document.getSelection())')).toBe('Provisions')
    await heading.click()
    await waitFor('the second row', async () => (await rows(page)) === 2)
  })

  it('whose session has ended leads to the login, and keeps what was typed', async () => {
    const page = await open({ mayComplain: /401|ERR_|Failed to load/ })
    await seedDeal(database().admin)
    await logIn(page, deck.url('/provisions?state=Failed'), adminToken)
    await isLive(page)
    await page.getByLabel('Last error begins').fill('gua')
    await page.context().clearCookies()
    await deck.app.stop()
    await serve()
    const link = page.getByRole('link', { name: 'log in again' })
    await link.waitFor()
    const login = page.context().waitForEvent('page')
    await link.click()
    const other = await login
    await other.getByLabel('Token').fill(adminToken)
    await other.getByRole('button', { name: 'Log in' }).click()
    await other.getByRole('button', { name: 'Log out' }).waitFor()
    expect(other.url()).toBe(page.url())
    await page.locator('#live[data-state=waiting]').waitFor()
    expect(await page.getByLabel('Last error begins').inputValue()).toBe('gua')
    await page.getByLabel('Last error begins').fill('')
    await page.getByRole('heading', { level: 1 }).click()
    await isLive(page)
  })

  it('keeps what is unfolded, and where the focus is', async () => {
    const page = await open()
    await logIn(page, deck.url(), adminToken)
    await isLive(page)
    const summary = page.getByText('As a table').first()
    await summary.click()
    await seedDeal(database().admin, { attempts: 10 })
    await page.getByText('1 deal out of attempts').waitFor()
    expect(await page.locator('.chart details[open]').count()).toBe(1)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('As a table')
  })

  it('says since when it is stale while the service is away, and comes back with it', async () => {
    const page = await open({ mayComplain: /ERR_|Failed to load/ })
    await logIn(page, deck.url('/provisions'), adminToken)
    await isLive(page)
    await deck.app.stop()
    await page.locator('#live[data-state=stale]').waitFor()
    expect(await mark(page)).toMatch(/^stale since \d\d:\d\d:\d\d UTC$/)
    await seedDeal(database().admin)
    await serve()
    await isLive(page)
    await waitFor('the row', async () => (await rows(page)) === 1)
    expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(1)
  })

  it('lets the stream go while it is hidden, and takes it up again', async () => {
    const page = await open()
    await logIn(page, deck.url('/provisions'), adminToken)
    await isLive(page)
    const show = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${String(hidden)} })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show(true)
    await page.locator('#live[data-state=hidden]').waitFor({ state: 'attached' })
    await seedDeal(database().admin)
    await show(false)
    await waitFor('the row', async () => (await rows(page)) === 1)
    await isLive(page)
  })
})
