/** The service with its Deck, and the ways through it that tests have in common. */

import type { Page } from 'playwright-core'
import { serveApi, tokens, useApi, type ServedApi } from '../integration/http-api-fixtures.js'
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
  return deckOf(await serveApi(database, options))
}

/** Registers a service for the tests around, and its end; the returned function gives it inside them. */
export function useDeck(
  database: () => TestDatabase,
  options: () => Readonly<Record<string, string>> = () => tokens,
): () => ServedDeck {
  const api = useApi(database, options)
  return () => deckOf(api())
}

function deckOf(api: ServedApi): ServedDeck {
  return { ...api, url: (path = '') => `${api.address}/deck${path}` }
}

/** Logs in, and is then on the page that was asked for. */
export async function logIn(page: Page, deckUrl: string, token: string, name = ''): Promise<void> {
  await page.goto(deckUrl)
  await page.getByLabel('Token').fill(token)
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}
