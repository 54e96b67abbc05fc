/**
 * A real browser for the tests of The Deck: Debian's Chromium, one for each test file, a fresh profile
 * for each page. What a page logs as an error, or is refused by its own policy, fails the test.
 */

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { mustRun } from './must-run.js'

/** Nothing that talks to others, and nothing that a machine without a screen or a user lacks. */
const switches = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--disable-dev-shm-usage',
]

/** Far above what a page needs on two busy cores; reached only by a real fault. */
const patienceMs = 50_000

const executable = findChromium()

/** `describe` for what needs the browser. */
export const describeInBrowser = mustRun(
  'Chromium',
  executable === undefined
    ? 'it is not installed: scripts/install-test-tools.sh does that'
    : undefined,
  describe,
)

export interface PageOptions extends BrowserContextOptions {
  /** Complaints that this test brings about itself. */
  readonly mayComplain?: RegExp
}

/** Registers the browser for the tests around; the returned function opens a page in a profile of its own. */
export function useBrowser(): (options?: PageOptions) => Promise<Page> {
  let browser: Browser | undefined
  const opened: { page: Page; complaints: string[]; mayComplain: RegExp | undefined }[] = []

  beforeAll(async () => {
    if (executable === undefined) return
    browser = await chromium.launch({ executablePath: executable, args: switches })
  })
  afterEach(async () => {
    const pages = opened.splice(0)
    await Promise.all(pages.map(({ page }) => page.context().close()))
    for (const { complaints, mayComplain } of pages) {
      expect(complaints.filter((text) => mayComplain?.test(text) !== true)).toEqual([])
    }
  })
  afterAll(() => browser?.close())

  return async ({ mayComplain, ...options } = {}) => {
    if (browser === undefined) throw new Error('the browser exists only inside tests')
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    context.setDefaultTimeout(patienceMs)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
    })
    opened.push({ page, complaints, mayComplain })
    return page
  }
}

function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders
    .flatMap((folder) => ['chromium', 'chromium-browser'].map((name) => join(folder, name)))
    .find((path) => existsSync(path))
}
