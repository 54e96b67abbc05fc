/**
 * Provisioned rows per second: this service, the queues that people would use instead, and a bare loop of
 * one statement per row, which is the database's own limit; interleaved rounds on one server of their own,
 * on the product's tables with a history of Ready deals. Prints a table, and JSON as the last line.
 *
 * `--rows`, `--rounds` and `--lanes` make it shorter; ratios are of medians.
 */

import process from 'node:process'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { startEmbeddedPostgres } from '../dist/demo/servers/embedded-postgres.js'
import { createDatabase } from '../dist/postgres/connect.js'
import { migrateUp } from '../dist/postgres/migrator.js'
import { contestants } from './provision/contestants.js'
import { checkDone, seedDue, seedHistory } from './provision/seed.js'

const { values: args } = parseArgs({
  options: {
    rows: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    lanes: { type: 'string', default: '1,4,10' },
  },
})
const rows = Number(args.rows)
const rounds = Number(args.rounds)
const lanesTried = args.lanes.split(',').map(Number)
/** Empty tables would flatter plans that read all of them. */
const history = 10_000

const postgres = await startEmbeddedPostgres()
const db = createDatabase({
  connectionString: postgres.url,
  applicationName: 'bench',
  max: 1,
  onConnectionLost: () => undefined,
})
await migrateUp(db, ['service', 'reference'])
await seedHistory(db, history)

const names = Object.keys(contestants)
const results = []
for (const lanes of lanesTried) {
  const rates = Object.fromEntries(names.map((name) => [name, []]))
  // The first round fills caches and warms the compiler up; it doesn't count.
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      await sql`truncate messenger.outbox_events`.execute(db)
      await seedDue(db, rows)
      await sql`checkpoint`.execute(db)
      const ms = await contestants[name](postgres.url, lanes, rows)
      await checkDone(db, rows)
      if (round >= 0) rates[name].push((1_000 * rows) / ms)
    }
  }
  const limit = median(rates[names[0]])
  for (const name of names) {
    const perSecond = Math.round(median(rates[name]))
    results.push({ lanes, name, perSecond, ofTheLimit: median(rates[name]) / limit })
  }
}
await db.destroy()
await postgres.stop()

const cells = results.map(({ lanes, name, perSecond, ofTheLimit }) =>
  [
    String(lanes).padStart(5),
    name.padEnd(20),
    String(perSecond).padStart(8),
    ofTheLimit.toFixed(2).padStart(12),
  ].join('  '),
)
const header = ['lanes', 'who'.padEnd(20), 'rows/s'.padStart(8), 'of the limit'].join('  ')
process.stdout.write(
  `${header}\n${cells.join('\n')}\n${JSON.stringify({ rows, rounds, results })}\n`,
)

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
