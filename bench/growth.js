/**
 * What a cycle, a claim and the gauges cost in a grown installation beside a small one: Ready, poison and
 * future rows around the due ones, with the statistics of the day and with those of its beginning.
 */

import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import { loadConfig } from '../dist/config/load-config.js'
import { readAsOf, readDueCandidates, readDueLevels } from '../dist/provisioning/candidates.js'
import { limitLook, readDatabaseValues } from '../dist/telemetry/database-values.js'
import { seedDue, seedHistory } from './frame/deals.js'
import { interleave } from './frame/interleave.js'
import { below, rankedRows } from './frame/report.js'
import { startJob, timedCycle } from './frame/service-cycle.js'
import * as statistics from './frame/statistics.js'
import { seedFuture, seedPoison, seedReady, seedUnpublished, seedWaiting } from './growth/crowd.js'

const small = 'small'
const grown = 'grown'
const stale = 'grown, statistics of the beginning'
/** A busy machine spares no single look; one cycle reads ten batches anyway. */
const claimsOfRound = 20
const { retry } = loadConfig({}, { database: false, kafka: false, http: false })

export const growth = {
  full: {
    ready: 1_000_000,
    poison: 100_000,
    future: 100_000,
    history: 10_000,
    due: 1_000,
    backlog: 200_000,
    rounds: 5,
  },
  short: {
    ready: 2_000,
    poison: 200,
    future: 200,
    history: 200,
    due: 20,
    backlog: 500,
    rounds: 1,
  },

  async run({ servers, sizes }) {
    const worlds = {}
    for (const name of [small, grown, stale]) worlds[name] = await createWorld(servers, name, sizes)

    const cycles = await interleave(worlds, sizes, async ({ db, job }) => {
      await seedDue(db, sizes.due)
      await sql`checkpoint`.execute(db)
      return timedCycle(job, sizes.due)
    })
    await each(worlds, ({ db }) => seedWaiting(db, sizes.due))
    const claims = await interleave(worlds, sizes, timedClaims)
    await each(worlds, ({ db }) => seedWaiting(db, sizes.backlog - sizes.due))
    await each(worlds, ({ db }) => seedUnpublished(db, sizes.backlog))
    // A backlog of this size has stood for a while; the vacuum that comes with it is not to be measured.
    await each(worlds, ({ settle }) => settle())
    const gauges = await interleave(worlds, sizes, timedGauges)
    await each(worlds, async ({ job, drop }) => {
      await job.close()
      await drop()
    })
    return {
      tables: [
        table(`milliseconds of a cycle of ${sizes.due} due rows`, cycles),
        table(`milliseconds of ${claimsOfRound} claims of ${retry.batchSize}`, claims),
        table(`milliseconds of a look for the gauges, ${sizes.backlog} waiting in each`, gauges),
      ],
      goals: [grown, stale].flatMap((name) => [
        below(`cycle, ${name}`, 1.3, statistics.ratio(cycles[name], cycles[small])),
        below(`claims, ${name}`, 1.3, statistics.ratio(claims[name], claims[small])),
        below(`ms for the gauges, ${name}`, 100, statistics.median(gauges[name])),
      ]),
    }
  },
}

/** Where statistics are to be old, they are of the history alone, and nobody makes new ones. */
async function createWorld(servers, name, sizes) {
  const { url, db, vacuum, drop } = await servers.database(['service', 'reference'])
  await seedHistory(db, sizes.history)
  if (name === stale) await forbidStatistics(db)
  if (name !== small) {
    await seedReady(db, sizes.ready)
    await seedPoison(db, sizes.poison)
    await seedFuture(db, sizes.future)
    if (name === grown) await vacuum()
  }
  const job = await startJob(url)
  // Vacuum comes by the rows that were written; only what the planner believes of them stays old.
  const settle = name === stale ? () => vacuum({ analyze: false }) : vacuum
  return { db, job, settle, drop }
}

async function forbidStatistics(db) {
  for (const table of ['deal_chat_provisions', 'outbox_events', 'chats']) {
    await sql`alter table messenger.${sql.raw(table)} set (autovacuum_enabled = off)`.execute(db)
  }
}

async function timedClaims({ db }) {
  const { maxAttempts, stuckProvisioningAfterMs, batchSize } = retry
  const at = { asOf: await readAsOf(db), maxAttempts, stuckProvisioningAfterMs }
  const start = performance.now()
  for (let n = 0; n < claimsOfRound; n += 1) {
    await readDueCandidates(db, at, await readDueLevels(db, at), undefined, batchSize)
  }
  return performance.now() - start
}

async function timedGauges({ db }) {
  const start = performance.now()
  await db.transaction().execute(look)
  return performance.now() - start
}

async function each(worlds, work) {
  for (const world of Object.values(worlds)) await work(world)
}

function table(title, figures) {
  return { title, rows: rankedRows(figures, small, statistics) }
}

/** As database-gauges.ts does it. */
async function look(trx) {
  await limitLook(trx, 2_000)
  await readDatabaseValues(trx, retry, 'kafka')
}
