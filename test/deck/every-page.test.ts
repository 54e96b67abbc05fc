/**
 * What holds for each page: no serious fault of accessibility, no sideways scrolling on a phone, both
 * colour schemes, readable without script, no text taken for markup. Leaves a screenshot of each in
 * `.cache/deck`, to be looked at by people.
 */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser, useBrowser } from '../support/browser.js'
import { useTestDatabase } from '../support/test-database.js'
import { adminToken, logIn, serveDeck, type ServedDeck } from './deck-fixtures.js'
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
const phone = { width: 390, height: 844 }

describeInBrowser('every page', () => {
  const open = useBrowser()
  let deck: ServedDeck
  let pages: readonly DeckPage[]
  beforeAll(async () => {
    deck = await serveDeck(database())
    pages = await seedDeckPages(database())
  })
  afterAll(() => deck.app.stop())

  /** Goes through all of them, and first through the login, for `look`. */
  async function visit(page: Page, look: (name: string) => Promise<void>): Promise<void> {
    await page.goto(deck.url())
    await look('login')
    await logIn(page, deck.url(), adminToken, 'anna')
    for (const { name, path } of pages) {
      await page.goto(deck.url(path))
      await look(name)
    }
  }

  /** Until the page has read itself anew. */
  async function waitForLook(page: Page): Promise<void> {
    const answer = await page.waitForResponse(
      (response) => response.request().resourceType() === 'fetch' && response.url() === page.url(),
    )
    await answer.finished()
  }

  const takePicture = (page: Page, name: string) =>
    page.screenshot({ path: `${pictures}${name}.png`, fullPage: true })

  it.each(['light', 'dark'] as const)(
    'has no serious fault of accessibility: %s',
    async (scheme) => {
      const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
      const page = await open({ colorScheme: scheme, mayComplain: /404/ })
      const faults: string[] = []
      await visit(page, async (name) => {
        await page.evaluate(axe)
        const { violations } = await page.evaluate<AxeResults>('axe.run()')
        for (const { id, impact, nodes } of violations) {
          if (impact !== 'serious' && impact !== 'critical') continue
          faults.push(`${name}: ${id} at ${nodes.map(({ html }) => html).join(' | ')}`)
        }
        await takePicture(page, `${name}-${scheme}`)
      })
      expect(faults).toEqual([])
    },
  )

  it('the dark scheme is dark, the light one light', async () => {
    const brightness = async (colorScheme: 'light' | 'dark'): Promise<number> => {
      const page = await open({ colorScheme })
      await page.goto(deck.url('/login'))
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

  it('takes no text for markup, and runs none', async () => {
    const page = await open({ mayComplain: /404/ })
    page.on('dialog', (dialog) => {
      throw new Error(`a text opened a dialog: ${dialog.message()}`)
    })
    const shown: string[] = []
    await visit(page, async (name) => {
      const text = await page.getByRole('main').textContent()
      if (text?.includes(hostileText)) shown.push(name)
      const made = 'main img, main script, main iframe, main [onerror], main style'
      expect([name, await page.locator(made).count()]).toEqual([name, 0])
      expect([name, await page.title()]).toEqual([name, expect.stringMatching(/ · The Deck$/)])
    })
    // Each kind of text that strangers type: titles, errors, reasons, payloads, details, messages, names.
    for (const name of hostilePages) expect(shown).toContain(name)
  })

  it('moves nothing while what it shows changes', async () => {
    const page = await open({ mayComplain: /404/ })
    const moved: unknown[] = []
    const watched: string[] = []
    await logIn(page, deck.url(), adminToken, 'anna')
    for (const { name, path } of pages) {
      await page.goto(deck.url(path))
      const isWatching = (await page.locator('main[data-watch]').count()) > 0
      if (!isWatching) continue
      watched.push(name)
      await page.locator('#live[data-state=live]').waitFor()
      // Its own look after the stream has opened is to be over: the next one is of the change.
      await waitForLook(page)
      await watchShifts(page)
      await changeEverything(database())
      await waitForLook(page)
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
    await page.goto(deck.url())
    expect(await page.locator('.chart svg path').count()).toBeGreaterThan(5)
    await page.goto(deck.url('/runs'))
    await page.getByRole('link', { name: 'Older' }).click()
    expect(await page.getByRole('row').count()).toBeGreaterThan(10)
  })

  it('has less than 100 kB of script, all from here, none inline', async () => {
    const page = await open()
    await logIn(page, deck.url(), adminToken)
    await page.getByText('live', { exact: true }).waitFor()
    const names = await page.evaluate<string[]>(`performance.getEntriesByType('resource')
      .map(({ name }) => name).filter((name) => name.endsWith('.js'))`)
    expect(names.sort()).toEqual([deck.url('/assets/deck.js'), deck.url('/assets/idiomorph.js')])
    const texts = await Promise.all(names.map(async (name) => (await fetch(name)).text()))
    const size = texts.reduce((total, { length }) => total + length, 0)
    expect(size).toBeGreaterThan(10_000)
    expect(size).toBeLessThan(100_000)
    expect(await page.locator('script:not([src]), [style], [onclick]').count()).toBe(0)
  })

  it('lets nothing else run: the policy is strict', async () => {
    const { headers } = await fetch(deck.url('/login'))
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
  })
})
