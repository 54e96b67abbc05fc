/**
 * Provisioned rows per second: this service, the queues that people would use instead, and a bare loop of
 * one statement per row, which is the database's own limit; on the product's tables with a history of
 * Ready deals. The queues' handler is what one writes, a transaction of seven statements; how they would do
 * with the one statement, which is not theirs, is shown beside it.
 */

import { sql } from 'kysely'
import { checkDone, seedDue, seedHistory } from './frame/deals.js'
import { interleave } from './frame/interleave.js'
import { atLeast, rankedRows } from './frame/report.js'
import * as statistics from './frame/statistics.js'
import { contestants } from './provision/contestants.js'

const bare = 'bare statement loop'
const ours = 'this service'
const peers = ['graphile-worker', 'pg-boss']
/** Empty tables would flatter plans that read all of them. */
const history = 10_000

/** What is asked for at which number of lanes. */
const ofTheLimit = { 1: 0.85, 4: 0.85 }
const ofTheBestPeer = { 4: 1.5 }

export const provision = {
  /** Many, for a cycle also takes its lock and its connections, which a bare loop has already. */
  full: { rows: 2_000, rounds: 5, lanes: [1, 4] },
  short: { rows: 20, rounds: 1, lanes: [2] },

  async run({ servers, sizes }) {
    const { url, db, vacuum, drop } = await servers.database(['service', 'reference'])
    await seedHistory(db, history)
    const rows = []
    const goals = []
    for (const lanes of sizes.lanes) {
      const figures = await interleave(contestantsAt(lanes), sizes, async (work) => {
        await sql`truncate messenger.outbox_events`.execute(db)
        await seedDue(db, sizes.rows)
        // All begin with tables in the same order; what the one before has left would be cleaned up in the
        // turn of whoever is at work when autovacuum comes.
        await vacuum()
        await sql`checkpoint`.execute(db)
        const ms = await work(url, lanes, sizes.rows)
        await checkDone(db, sizes.rows)
        return (1_000 * sizes.rows) / ms
      })
      rows.push(...rankedRows(figures, bare, statistics, { lanes }))
      goals.push(...goalsAt(lanes, figures))
    }
    await drop()
    return { tables: [{ title: 'provisioned rows/s', rows }], goals }
  },
}

/** One lane tells what a row takes; what the queues add to that shows where lanes compete. */
function contestantsAt(lanes) {
  if (lanes > 1) return contestants
  return Object.fromEntries([bare, ours].map((name) => [name, contestants[name]]))
}

function goalsAt(lanes, figures) {
  const to = (name) => statistics.ratio(figures[ours], figures[name])
  const goals = []
  if (lanes in ofTheLimit) {
    const goal = `${lanes} lanes, beside the bare loop`
    goals.push(atLeast(goal, ofTheLimit[lanes], to(bare)))
  }
  if (lanes in ofTheBestPeer) {
    const goal = `${lanes} lanes, beside the best peer`
    goals.push(atLeast(goal, ofTheBestPeer[lanes], Math.min(...peers.map(to))))
  }
  return goals
}
