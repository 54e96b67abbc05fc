/**
 * An old snapshot is held for minutes (somebody's forgotten transaction, a slow report) while the service
 * works on: nothing that it leaves behind can be vacuumed. What a cycle costs at the end, beside the
 * beginning; and, for they pass over all that can't be vacuumed, a claim, a look for the gauges, and polls
 * and marks (docs/capacity.md). The full form takes ten minutes, `--set minutes=2` a shorter one.
 */

import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import pg from 'pg'
import { loadConfig } from '../dist/config/load-config.js'
import { markPublished } from '../dist/outbox/delivery-record.js'
import { selectDueEvents } from '../dist/outbox/due-events.js'
import { readAsOf, readDueCandidates, readDueLevels } from '../dist/provisioning/candidates.js'
import { limitLook, readDatabaseValues } from '../dist/telemetry/database-values.js'
import { seedDue, seedHistory } from './frame/deals.js'
import { below } from './frame/report.js'
import { startJob, timedCycle } from './frame/service-cycle.js'
import { median } from './frame/statistics.js'

const { retry } = loadConfig({}, { database: false, kafka: false, http: false })
/** Events of one poll; as many are marked at once. */
const batch = 500
/** Measured at either end; the first and the last. */
const looks = 5
const allowed = 2

export const bloat = {
  long: true,
  full: { minutes: 10, rowsPerCycle: 1_000, history: 10_000 },
  short: { minutes: 0.05, rowsPerCycle: 20, history: 200 },

  async run({ servers, sizes }) {
    const { url, db, drop } = await servers.database(['service', 'reference'])
    await seedHistory(db, sizes.history)
    const job = await startJob(url)
    // Caches and the compiler; not counted.
    for (let n = 0; n < looks; n += 1) await workOnce({ db, job }, sizes.rowsPerCycle)
    const snapshot = await holdSnapshot(url)
    const until = performance.now() + sizes.minutes * 60_000
    const rounds = []
    while (performance.now() < until || rounds.length < 2 * looks) {
      rounds.push(await workOnce({ db, job }, sizes.rowsPerCycle))
    }
    await snapshot.release()
    await job.close()
    await drop()
    const rows = Object.keys(rounds[0]).map((what) => {
      const at = (part) => median(part.map((round) => round[what]))
      const [first, last] = [at(rounds.slice(0, looks)), at(rounds.slice(-looks))]
      return {
        what,
        'first ms': Number(first.toFixed(1)),
        'last ms': Number(last.toFixed(1)),
        ratio: Number((last / first).toFixed(2)),
      }
    })
    const done = rounds.length * sizes.rowsPerCycle
    return {
      tables: [{ title: `${done} rows under a snapshot of ${sizes.minutes} min`, rows }],
      goals: rows
        .filter(({ what }) => what === 'cycle')
        .map(({ what, ratio }) => below(`${what}, last beside first`, allowed, ratio)),
    }
  },
}

/** In a transaction, as a report that nobody ends: what it could still see must stay. */
async function holdSnapshot(url) {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from messenger.deal_chat_provisions')
  return { release: () => client.end() }
}

/** Each row fails once before it is made Ready: a write of an open row, and one that closes it. */
async function workOnce({ db, job }, rows) {
  await seedDue(db, rows)
  await failOnce(db)
  const at = {
    asOf: await readAsOf(db),
    maxAttempts: retry.maxAttempts,
    stuckProvisioningAfterMs: retry.stuckProvisioningAfterMs,
  }
  let [levels, claimed] = [[], []]
  const readNext = async () => {
    claimed = await readDueCandidates(db, at, levels, claimed.at(-1), retry.batchSize)
  }
  const firstClaim = await timed(async () => {
    levels = await readDueLevels(db, at)
    await readNext()
  })
  const nextClaim = await timed(readNext)
  const cycle = await timedCycle(job, rows)
  const gauges = await timed(() => db.transaction().execute(look))
  const poll = await timed(() => publishAll(db))
  return {
    'first claim': firstClaim,
    'next claim': nextClaim,
    cycle,
    gauges,
    'polls and marks': poll,
  }
}

async function failOnce(db) {
  await sql`
    update messenger.deal_chat_provisions
    set attempts = attempts + 1, last_error = 'contention:40P01', updated_at = now()
    where status = 'Failed'
  `.execute(db)
}

/** As the relay does it, without a broker. */
async function publishAll(db) {
  for (;;) {
    const due = await selectDueEvents(db, { limit: batch, exceptTopics: [] })
    if (due.length === 0) return
    await markPublished(
      db,
      due.map(({ id }) => id),
    )
  }
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** As database-gauges.ts does it. */
async function look(trx) {
  await limitLook(trx, 2_000)
  await readDatabaseValues(trx, retry, 'kafka')
}
