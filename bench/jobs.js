/**
 * The retry core beside graphile-worker and pg-boss: no-op jobs per second at ten lanes, enqueue rates,
 * pick-up latency; interleaved rounds on one server of their own. Prints tables, and JSON as the last
 * line. `--jobs` and `--rounds` make it shorter; figures are medians.
 */

import process from 'node:process'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../dist/demo/servers/embedded-postgres.js'
import { createDatabase } from '../dist/postgres/connect.js'
import { migrateUp } from '../dist/postgres/migrator.js'
import { enqueuers } from './jobs/enqueue.js'
import { pickUpLatency } from './jobs/latency.js'
import { throughput } from './jobs/throughput.js'

const { values: args } = parseArgs({
  options: {
    jobs: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
  },
})
const jobs = Number(args.jobs)
const rounds = Number(args.rounds)
const singles = Math.ceil(jobs / 10)
const latencies = Math.ceil(jobs / 100)

const postgres = await startEmbeddedPostgres()
const db = createDatabase({
  connectionString: postgres.url,
  applicationName: 'bench',
  max: 1,
  onConnectionLost: () => undefined,
})
await migrateUp(db, ['service'])
await db.destroy()
const client = new pg.Client(postgres.url)
await client.connect()
const query = async (text, values) => (await client.query(text, values)).rows

const results = { jobs, rounds, throughput: {}, enqueueSingly: {}, enqueueInBulk: {}, pickUpMs: {} }

/** The first round fills caches and warms the compiler up; it doesn't count. */
async function interleaved(contestants, once) {
  const figures = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, contestant] of Object.entries(contestants)) {
      await query('checkpoint')
      const figure = await once(contestant)
      if (round >= 0) figures[name].push(figure)
    }
  }
  return figures
}

const perSecond = (count, ms) => (1_000 * count) / ms
const throughputs = await interleaved(throughput, async ({ run, jobs: own = jobs }) =>
  perSecond(own, await run(postgres.url, own, query)),
)
const single = await interleaved(enqueuers, async (run) =>
  perSecond(singles, await run(postgres.url, singles, query, false)),
)
const bulk = await interleaved(enqueuers, async (run) =>
  perSecond(jobs, await run(postgres.url, jobs, query, true)),
)
const latency = await interleaved(pickUpLatency, ({ run, share }) =>
  run(postgres.url, Math.ceil(latencies * share)),
)
await client.end()
await postgres.stop()

results.throughput = medians(throughputs)
results.enqueueSingly = medians(single)
results.enqueueInBulk = medians(bulk)
for (const [name, times] of Object.entries(latency)) {
  const all = times.flat().sort((a, b) => a - b)
  const at = (share) => Number((all[Math.floor(share * (all.length - 1))] ?? 0).toFixed(2))
  results.pickUpMs[name] = { p50: at(0.5), p99: at(0.99) }
}

print('no-op jobs/s, 10 lanes', results.throughput)
print('enqueued/s, one by one', results.enqueueSingly)
print('enqueued/s, in bulk', results.enqueueInBulk)
const shown = Object.entries(results.pickUpMs)
print('pick-up ms, p50', Object.fromEntries(shown.map(([name, { p50 }]) => [name, p50])))
print('pick-up ms, p99', Object.fromEntries(shown.map(([name, { p99 }]) => [name, p99])))
process.stdout.write(`${JSON.stringify(results)}\n`)

function medians(figures) {
  const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  return Object.fromEntries(
    Object.entries(figures).map(([name, values]) => [name, Math.round(median(values))]),
  )
}

function print(title, rows) {
  process.stdout.write(`${title}\n`)
  for (const [name, figure] of Object.entries(rows)) {
    process.stdout.write(`  ${name.padEnd(28)} ${String(figure).padStart(10)}\n`)
  }
}
