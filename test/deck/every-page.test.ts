/**
 * What holds for each page: no serious fault of accessibility, no sideways scrolling on a phone, both
 * colour schemes, readable without script, no text taken for markup. Leaves a screenshot of each in
 * `.cache/deck`, to be looked at by people. Each page is opened once for all that one window can tell.
 */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeInBrowser, useBrowser } from '../support/browser.js'
import { useTestDatabase } from '../support/test-database.js'
import { adminToken, logIn, useDeck } from './deck-fixtures.js'
import {
  changeEverything,
  hostilePages,
  hostileText,
  seedDeckPages,
  type DeckPage,
} from './deck-pages.js'
import { shifts, watchShifts } from './layout-shifts.js'

const database = useTestDatabase()
const pictures = fileURLToPath(new URL('../../.cache/deck/', import.meta.url))
/** Those of axe's usual rules that look at colours. */
const colourRules = ['color-contrast', 'link-in-text-block']
const phone = { width: 390, height: 844 }
/** Far above what it takes to open, examine and photograph all of them on two busy cores. */
const allPagesMs = 600_000

describeInBrowser('every page', () => {
  const open = useBrowser()
  const deck = useDeck(database)
  let pages: readonly DeckPage[]
  beforeAll(async () => {
    pages = await seedDeckPages(database())
  })

  /** Goes through all of them, and first through the login, for `look`. */
  async function visit(page: Page, look: (name: string) => Promise<void>): Promise<void> {
    await page.goto(deck().url())
    await look('login')
    await logIn(page, deck().url(), adminToken, 'anna')
    for (const { name, path } of pages) {
      await page.goto(deck().url(path))
      await look(name)
    }
  }

  /** Until the page has asked for itself anew from now on, and shows what it got. */
  async function waitForLook(page: Page): Promise<void> {
    const isLook = (request: Request) =>
      request.resourceType() === 'fetch' && request.url() === page.url()
    const [request] = await Promise.all([
      page.waitForRequest(isLook),
      // Taken off, so that the page itself tells when it has done: it writes it last.
      page.evaluate(`delete document.querySelector('main').dataset.watch`),
    ])
    await (await request.response())?.finished()
    await page.locator('main[data-watch]').waitFor()
  }

  const takePicture = (page: Page, name: string) =>
    page.screenshot({ path: `${pictures}${name}.png`, fullPage: true })

  interface Seen {
    readonly name: string
    readonly title: string
    readonly showsHostileText: boolean
    /** Elements that no page of The Deck has: they would be made of somebody's text. */
    readonly strangeElements: number
    readonly faults: { readonly light: readonly string[]; readonly dark: readonly string[] }
  }

  async function lookAt(page: Page, name: string, axe: string): Promise<Seen> {
    const main = page.getByRole('main')
    const made = 'main img, main script, main iframe, main [onerror], main style'
    await page.evaluate(axe)
    const light = await seriousFaults(page, 'axe.run()')
    await takePicture(page, `${name}-light`)
    await page.emulateMedia({ colorScheme: 'dark' })
    // The elements are the same ones, in other colours.
    const dark = await seriousFaults(page, `axe.run({ runOnly: ${JSON.stringify(colourRules)} })`)
    await takePicture(page, `${name}-dark`)
    await page.emulateMedia({ colorScheme: 'light' })
    return {
      name,
      title: await page.title(),
      showsHostileText: (await main.textContent())?.includes(hostileText) ?? false,
      strangeElements: await page.locator(made).count(),
      faults: { light, dark },
    }
  }

  async function seriousFaults(page: Page, run: string): Promise<readonly string[]> {
    const { violations, passes } = await page.evaluate<AxeResults>(run)
    expect(passes.map(({ id }) => id)).toContain('color-contrast')
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id} at ${nodes.map(({ html }) => html).join(' | ')}`)
  }

  describe('in a window', () => {
    const all: Seen[] = []
    const dialogs: string[] = []
    beforeAll(async () => {
      const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
      const page = await open({
        ...{ colorScheme: 'light', mayComplain: /404/ },
        // One colour passes into the other at once.
        reducedMotion: 'reduce',
      })
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      await visit(page, async (name) => {
        all.push(await lookAt(page, name, axe))
      })
    }, allPagesMs)

    it.each(['light', 'dark'] as const)('has no serious fault of accessibility: %s', (scheme) => {
      const faulty = all.filter(({ faults }) => faults[scheme].length > 0)
      expect(faulty.map(({ name, faults }) => [name, faults[scheme]])).toEqual([])
      expect(all).toHaveLength(pages.length + 1)
    })

    it('takes no text for markup, and runs none', () => {
      expect(dialogs).toEqual([])
      for (const { name, strangeElements, title } of all) {
        expect([name, strangeElements]).toEqual([name, 0])
        expect([name, title]).toEqual([name, expect.stringMatching(/ · The Deck$/)])
      }
      const shown = all.filter(({ showsHostileText }) => showsHostileText).map(({ name }) => name)
      // Each kind of text that strangers type: titles, errors, reasons, payloads, details, messages, names.
      for (const name of hostilePages) expect(shown).toContain(name)
    })
  })

  it('the dark scheme is dark, the light one light', async () => {
    const brightness = async (colorScheme: 'light' | 'dark'): Promise<number> => {
      const page = await open({ colorScheme })
      await page.goto(deck().url('/login'))
      const colour = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      return Math.max(...(String(colour).match(/\d+/g) ?? []).slice(0, 3).map(Number))
    }
    expect(await brightness('dark')).toBeLessThan(60)
    expect(await brightness('light')).toBeGreaterThan(200)
  })

  it('fits a phone: nothing but lists scrolls sideways', async () => {
    const page = await open({ viewport: phone, hasTouch: true, isMobile: true, mayComplain: /404/ })
    const widths: [string, number][] = []
    await visit(page, async (name) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      widths.push([name, width])
      await takePicture(page, `${name}-phone`)
    })
    expect(widths.filter(([, width]) => width > phone.width)).toEqual([])
    expect(widths).toHaveLength(pages.length + 1)
  })

  it('moves nothing while what it shows changes', async () => {
    const page = await open({ mayComplain: /404/ })
    const moved: unknown[] = []
    const watched: string[] = []
    await logIn(page, deck().url(), adminToken, 'anna')
    for (const { name, path } of pages) {
      await page.goto(deck().url(path))
      const isWatching = (await page.locator('main[data-watch]').count()) > 0
      if (!isWatching) continue
      watched.push(name)
      // Its own look after the stream has opened is over by then.
      await page.locator('#live[data-state=live]').waitFor()
      await watchShifts(page)
      await changeEverything(database())
      await waitForLook(page)
      // Its figures are shared for some seconds: a later look sees those that have changed.
      if (name === 'overview') await page.getByText('The oldest event has waited').waitFor()
      const seen = await shifts(page)
      if (JSON.stringify(seen) !== '[]') moved.push([name, seen])
    }
    expect(moved).toEqual([])
    expect(watched.length).toBeGreaterThan(12)
  })

  it('can be read and used without script', async () => {
    const page = await open({ javaScriptEnabled: false, mayComplain: /404/ })
    await visit(page, async (name) => {
      expect([name, await page.getByRole('heading', { level: 1 }).count()]).toEqual([name, 1])
    })
    await page.goto(deck().url())
    expect(await page.locator('.chart svg path').count()).toBeGreaterThan(5)
    await page.goto(deck().url('/runs'))
    await page.getByRole('link', { name: 'Older' }).click()
    expect(await page.getByRole('row').count()).toBeGreaterThan(10)
  })

  it('has less than 100 kB of script, all from here, none inline', async () => {
    const page = await open()
    await logIn(page, deck().url(), adminToken)
    await page.getByText('live', { exact: true }).waitFor()
    const names = await page.evaluate<string[]>(`performance.getEntriesByType('resource')
      .map(({ name }) => name).filter((name) => name.endsWith('.js'))`)
    expect(names.sort()).toEqual([
      deck().url('/assets/deck.js'),
      deck().url('/assets/idiomorph.js'),
    ])
    const texts = await Promise.all(names.map(async (name) => (await fetch(name)).text()))
    const size = texts.reduce((total, { length }) => total + length, 0)
    expect(size).toBeGreaterThan(10_000)
    expect(size).toBeLessThan(100_000)
    expect(await page.locator('script:not([src]), [style], [onclick]').count()).toBe(0)
  })

  it('lets nothing else run: the policy is strict', async () => {
    const { headers } = await fetch(deck().url('/login'))
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
  })
})
