/** What a person does in the browser on pages of The Deck: opens one, confirms an action, is told of it. */

import type { Page } from 'playwright-core'
import { useBrowser } from '../support/browser.js'
import type { ServedDeck } from './deck-fixtures.js'
import { useSession } from './deck-forms.js'

/** What the audit keeps of an action that was confirmed here. */
export const byAnna = { actor: 'anna', reason: 'the cause was mended' }

/**
 * Registers a browser and a session for the tests around; the returned function opens a page, which may
 * complain of what the test brings about itself.
 *
 * By the cookie of one session: an address may log in ten times a minute, and a file has more pages.
 */
export function useVisits(
  deck: () => ServedDeck,
): (path: string, mayComplain?: RegExp) => Promise<Page> {
  const open = useBrowser()
  const anna = useSession(deck)
  return async (path, mayComplain) => {
    const page = await open({ ...(mayComplain && { mayComplain }) })
    const [name = '', value = ''] = anna.cookie().split('=')
    await page.context().addCookies([{ name, value, url: deck().address }])
    await page.goto(deck().url(path))
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    return page
  }
}

export const main = (page: Page) => page.getByRole('main')

/** @param typed the number of many, where it is asked for */
export async function confirm(page: Page, button: string, typed?: string): Promise<void> {
  if (typed !== undefined) await page.getByLabel(`Type ${typed} to confirm`).fill(typed)
  await page.getByLabel('Reason, for the audit').fill(byAnna.reason)
  await main(page).getByRole('button', { name: button, exact: true }).click()
}

export const notice = (page: Page, text: string) =>
  page.locator('#notices', { hasText: text }).waitFor()
