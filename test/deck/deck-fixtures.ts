/** The service with its Deck, and the ways through it that tests have in common. */

import type { Page } from 'playwright-core'
import { serveApi, tokens, type ServedApi } from '../integration/http-api-fixtures.js'
import type { TestDatabase } from '../support/test-database.js'

export { adminToken, emptyTables, readToken, tokens } from '../integration/http-api-fixtures.js'

export interface ServedDeck extends ServedApi {
  /** The address of a page, `/provisions` or ``. */
  readonly url: (path?: string) => string
}

export async function serveDeck(
  database: TestDatabase,
  options: Readonly<Record<string, string>> = tokens,
): Promise<ServedDeck> {
  const api = await serveApi(database, options)
  return { ...api, url: (path = '') => `${api.address}/deck${path}` }
}

/**
 * On the page that was asked for, by the cookie of a session that there is: an address may log in ten
 * times a minute, and a file of tests has more pages.
 */
export async function enter(page: Page, url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url: new URL(url).origin }])
  await page.goto(url)
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}

/** Logs in, and is then on the page that was asked for. */
export async function logIn(page: Page, deckUrl: string, token: string, name = ''): Promise<void> {
  await page.goto(deckUrl)
  await page.getByLabel('Token').fill(token)
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}
