/**
 * First paint of The Deck's overview in Debian's Chromium: beside an empty database, one with 100,000
 * deals as on most days, and one with as many on the worst day, half of them poison and half waiting.
 *
 *   node bench/deck-paint.js [--rounds 9] [--deals 100000]
 */

import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { chromium } from 'playwright-core'
import { createApp } from '../dist/app.js'
import { loadConfig } from '../dist/config/load-config.js'
import { createLogger } from '../dist/telemetry/logger.js'
import { interleave } from './frame/interleave.js'
import { below, machine, rankedRows, saveResult, table } from './frame/report.js'
import { createServers } from './frame/servers.js'
import { median, ratio } from './frame/statistics.js'
import { seedFuture, seedPoison, seedReady } from './growth/crowd.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    deals: { type: 'string', default: '100000' },
  },
})
const [rounds, deals] = [Number(options.rounds), Number(options.deals)]

/** The figures are shared for 5 s: later than that each page has them read for itself. */
const coldAfterMs = 5_100

const crowds = {
  empty: async () => undefined,
  [`${deals} deals`]: async (db) => {
    await seedReady(db, deals * 0.99)
    await seedPoison(db, deals * 0.005)
    await seedFuture(db, deals * 0.005)
  },
  [`${deals} deals, worst day`]: async (db) => {
    await seedPoison(db, deals / 2)
    await seedFuture(db, deals / 2)
  },
}

const servers = createServers({})
const closers = [() => servers.stop()]
try {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium']).toString().trim()
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  const browser = await chromium.launch({ executablePath, args })
  closers.push(() => browser.close())
  const decks = {}
  for (const [name, seed] of Object.entries(crowds)) decks[name] = await serveDeck(seed)

  const times = await interleave(decks, { rounds }, (deck) => firstPaint(browser, deck))
  const [base] = Object.keys(decks)
  const rows = rankedRows(times, base, { median, ratio })
  const goals = Object.keys(decks)
    .slice(1)
    .map((name) =>
      below(`first paint with ${name} beside none`, 1.5, ratio(times[name], times[base])),
    )
  process.stdout.write(`${table('milliseconds to the first paint of the overview', rows)}\n`)
  for (const { goal, figure, met } of goals) {
    process.stdout.write(`${met ? 'met' : 'MISSED'}: ${goal}: ${figure}\n`)
    if (!met) process.exitCode = 1
  }
  await saveResult('deck-paint', { machine: machine(), rounds, deals, rows, goals })
} finally {
  for (const close of closers.reverse()) await close()
}

/** On a database of its own; nothing there is due, so that its figures stay as they are. */
async function serveDeck(seed) {
  const { url, db, drop } = await servers.database(['service', 'reference'])
  await seed(db)
  await sql`vacuum (analyze)`.execute(db)
  let listening
  const address = new Promise((resolve) => (listening = resolve))
  const log = createLogger({
    level: 'info',
    destination: {
      write: (line) => {
        const { event, address: at } = JSON.parse(line)
        if (event === 'http listening') listening(at)
      },
    },
  })
  const config = loadConfig(
    {
      DATABASE_URL: url,
      OUTBOX_RELAY: 'stdout',
      HTTP_PORT: '0',
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1d',
    },
    { database: true, kafka: false, http: true },
  )
  const app = createApp({ config, log, onFatal: (error) => log.fatal(error) })
  await app.start()
  closers.push(async () => {
    await app.stop()
    await drop()
  })
  return { url: `${await address}/deck`, seenAt: 0 }
}

/** In a profile of its own, as by somebody who has just been woken. */
async function firstPaint(browser, deck) {
  await delay(Math.max(0, deck.seenAt + coldAfterMs - performance.now()))
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(deck.url)
  const time = await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const paint = list.getEntriesByName('first-contentful-paint')[0]
      if (paint !== undefined) resolve(paint.startTime)
    }).observe({ type: 'paint', buffered: true })
  })`)
  await context.close()
  deck.seenAt = performance.now()
  return time
}
