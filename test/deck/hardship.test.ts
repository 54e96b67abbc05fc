/** The bad day: the database away, somebody quicker. It is said in place, and nothing typed is lost. */

import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeInBrowser, useBrowser } from '../support/browser.js'
import { dealState, seedDeal } from '../support/deals.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { adminToken, emptyTables, logIn, tokens, useDeck } from './deck-fixtures.js'

const database = useTestDatabase()

describeInBrowser('on a bad day', () => {
  const open = useBrowser()
  let proxy: TcpProxy
  beforeAll(async () => {
    proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
  })
  afterAll(() => proxy.stop())
  const deck = useDeck(database, () => {
    const url = new URL(database().url)
    url.port = String(proxy.port)
    return { ...tokens, DATABASE_URL: url.href }
  })
  beforeEach(() => emptyTables(database()))
  afterEach(() => proxy.resume())

  const mayComplain = /503|409|Failed to load/

  async function askToRequeue(page: Page, dealId: string): Promise<void> {
    await logIn(page, deck().url('/provisions'), adminToken, 'anna')
    await page.getByLabel(`Choose deal ${dealId}`).check()
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    await page.getByLabel('Reason').fill('the guard was mended')
  }

  it('a list without its database says so, and is there as soon as it can be', async () => {
    await seedDeal(database().admin)
    const page = await open({ mayComplain })
    await logIn(page, deck().url('/provisions'), adminToken)
    proxy.cut()
    await page.goto(deck().url('/provisions'))
    expect(await page.getByRole('main').textContent()).toContain("The database can't be used")
    proxy.resume()
    await page.getByRole('table').waitFor()
  })

  it('the overview keeps the last figures, and says of when they are', async () => {
    await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain })
    await logIn(page, deck().url(), adminToken)
    await page.getByText('1 deal out of attempts').waitFor()
    proxy.cut()
    await page.getByText("What happened lately can't be read").waitFor()
    await page.getByText("The database doesn't answer: these figures are of").waitFor()
    expect(await page.getByText('1 deal out of attempts').count()).toBe(1)
    proxy.resume()
    await page.getByRole('heading', { name: 'Over time' }).waitFor()
  })

  it('an action that meets no database keeps its reason, and goes through afterwards', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain })
    await askToRequeue(page, dealId)
    proxy.cut()
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/database.*Nothing was done/)
    expect(await page.getByLabel('Reason').inputValue()).toBe('the guard was mended')
    expect((await dealState(database().admin, dealId)).attempts).toBe(10)
    proxy.resume()
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    await page.getByText('1 deal re-enqueued').waitFor()
    expect((await dealState(database().admin, dealId)).attempts).toBe(0)
  })

  it('an action that loses the database on its way says so, and is done once in the end', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain })
    await askToRequeue(page, dealId)
    await database()
      .admin.transaction()
      .execute(async (trx) => {
        await sql`select from messenger.deal_chat_provisions for update`.execute(trx)
        const clicked = page.getByRole('button', { name: 'Re-enqueue' }).click()
        await waitFor('the action to wait for the row', async () => {
          const waiting = await database().query(
            `select from pg_stat_activity where wait_event_type = 'Lock'
               and datname = current_database()`,
          )
          return waiting.length > 0
        })
        proxy.cut()
        await page.getByText('nothing is done twice').waitFor()
        await clicked
      })
    expect(await page.getByLabel('Reason').inputValue()).toBe('the guard was mended')
    proxy.resume()
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    await page.getByText('1 deal re-enqueued').waitFor()
    expect(await dealState(database().admin, dealId)).toMatchObject({
      attempts: 0,
      events: ['Provisioning'],
    })
    const lines = await database().query('select from messenger.chat_provision_audit')
    expect(lines).toHaveLength(1)
  })

  it('a form that was sent is not there to be sent again by going back', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain })
    await askToRequeue(page, dealId)
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    await page.getByText('1 deal re-enqueued').waitFor()
    await page.goBack()
    await page.getByText('This form was sent already').waitFor()
    expect(await page.getByRole('main').textContent()).toContain('1 deal re-enqueued')
    expect(await page.getByLabel('Reason').count()).toBe(0)
  })

  it('an action that somebody else was quicker with says so, and changes nothing', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain })
    await askToRequeue(page, dealId)
    await database().query(
      `update messenger.deal_chat_provisions set status = 'Ready', chat_id = gen_random_uuid()`,
    )
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('it is Ready already')
    expect(await page.getByLabel('Reason').inputValue()).toBe('the guard was mended')
    expect((await dealState(database().admin, dealId)).attempts).toBe(10)
  })

  it('an action without a reason is asked for one', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const page = await open({ mayComplain: /400/ })
    await askToRequeue(page, dealId)
    await page.getByLabel('Reason').fill('   ')
    await page.getByRole('button', { name: 'Re-enqueue' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('"reason" must say why')
    await waitFor('no line in the audit', async () => {
      const lines = await database().query('select from messenger.chat_provision_audit')
      return lines.length === 0
    })
  })
})
