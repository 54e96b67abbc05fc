/**
 * First paint of The Deck's overview in Debian's Chromium: beside an empty database, one with many deals
 * as on most days, and one with as many on the worst day, half of them poison and half waiting. Cold: the
 * figures are read for this very page; shared: somebody else has had them read just before.
 */

import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { chromium } from 'playwright-core'
import { interleave } from './frame/interleave.js'
import { below, rankedRows } from './frame/report.js'
import { startServe } from './frame/serve-process.js'
import * as statistics from './frame/statistics.js'
import { seedFuture, seedPoison, seedReady } from './growth/crowd.js'

/** The figures are shared for 5 s: later than that each page has them read for itself. */
const coldAfterMs = 5_100

const empty = 'no deal'
const usual = 'a usual day'
const worst = 'the worst day'
const crowds = {
  [empty]: () => Promise.resolve(),
  [usual]: async (db, deals) => {
    await seedReady(db, deals * 0.99)
    await seedPoison(db, deals * 0.005)
    await seedFuture(db, deals * 0.005)
  },
  [worst]: async (db, deals) => {
    await seedPoison(db, deals / 2)
    await seedFuture(db, deals / 2)
  },
}

export const deck = {
  long: true,
  full: { deals: 100_000, rounds: 9 },
  short: { deals: 200, rounds: 1 },

  async run({ servers, sizes }) {
    const browser = await startBrowser()
    const decks = {}
    for (const [name, seed] of Object.entries(crowds)) {
      decks[name] = await serveDeck(servers, (db) => seed(db, sizes.deals))
    }
    const cold = await interleave(decks, sizes, async (served) => {
      await delay(Math.max(0, served.seenAt + coldAfterMs - performance.now()))
      return firstPaint(browser, served)
    })
    const shared = await interleave(decks, sizes, async (served) => {
      await readPage(served)
      return firstPaint(browser, served)
    })
    await browser.close()
    for (const { close } of Object.values(decks)) await close()
    return {
      tables: [
        table('milliseconds to the first paint of the overview, cold', cold),
        table('milliseconds to the first paint of the overview, figures shared', shared),
      ],
      goals: [
        ...[usual, worst].map((name) => goal(`first paint, cold, ${name}`, cold, name)),
        ...[usual, worst].map((name) => goal(`first paint, shared, ${name}`, shared, name)),
      ],
    }
  },
}

function table(title, figures) {
  return { title, rows: rankedRows(figures, empty, statistics) }
}

function goal(text, figures, name) {
  return below(`${text} beside ${empty}`, 1.5, statistics.ratio(figures[name], figures[empty]))
}

/** @throws where Chromium is not installed: scripts/install-test-tools.sh does that */
async function startBrowser() {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium']).toString().trim()
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  return chromium.launch({ executablePath, args })
}

/** On a database of its own; nothing there is due, so that its figures stay as they are. */
async function serveDeck(servers, seed) {
  const { url, db, vacuum, drop } = await servers.database(['service', 'reference'])
  await seed(db)
  await vacuum()
  const process = await startServe({
    DATABASE_URL: url,
    OUTBOX_RELAY: 'stdout',
    CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1d',
  })
  const close = async () => {
    await process.stop()
    await drop()
  }
  return { url: `${process.address}/deck`, seenAt: 0, close }
}

async function readPage(served) {
  const response = await globalThis.fetch(served.url)
  if (!response.ok) throw new Error(`the overview answers ${response.status}`)
  await response.text()
}

/** In a profile of its own, as by somebody who has just been woken. */
async function firstPaint(browser, served) {
  const context = await browser.newContext()
  const page = await context.newPage()
  const response = await page.goto(served.url)
  if (!response.ok()) throw new Error(`the overview answers ${response.status()}`)
  const time = await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const paint = list.getEntriesByName('first-contentful-paint')[0]
      if (paint !== undefined) resolve(paint.startTime)
    }).observe({ type: 'paint', buffered: true })
  })`)
  await context.close()
  served.seenAt = performance.now()
  return time
}
