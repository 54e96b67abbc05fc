/**
 * Runs benches by name, one after the other, on servers that it starts itself:
 *
 *   node bench/bench.js provision relay      those two
 *   node bench/bench.js all                  all but the long ones, which are there in the short form
 *   … --short                                tiny, one round: do they still work?
 *   … --rounds 9 --set lanes=4               other sizes than a bench's own
 *   … --postgres URL --kafka HOST:PORT       on servers that are there (a database is made and dropped)
 *
 * Prints tables, and the goals with what was reached; the figures go to .cache/bench as JSON. Exit code
 * 1 where a goal was missed; the short form judges nothing, only that the work was done.
 */

import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { machine, saveResult, table } from './frame/report.js'
import { createServers } from './frame/servers.js'
import { benches } from './benches.js'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    postgres: { type: 'string' },
    kafka: { type: 'string' },
  },
})

const names = positionals.includes('all')
  ? Object.keys(benches).filter((name) => options.short || benches[name].long !== true)
  : positionals
const unknown = names.filter((name) => !Object.hasOwn(benches, name))
if (names.length === 0 || unknown.length > 0) {
  process.stderr.write(
    `${unknown.length > 0 ? `No such bench: ${unknown.join(', ')}. ` : ''}` +
      `Name some of ${Object.keys(benches).join(', ')}, or all.\n`,
  )
  process.exit(2)
}

const servers = createServers({ postgres: options.postgres, kafka: options.kafka?.split(',') })
const missed = []
try {
  for (const name of names) {
    const bench = benches[name]
    const sizes = sizesOf(bench)
    const startedAt = performance.now()
    const before = machine()
    const { tables, goals = [] } = await bench.run({ servers, sizes })
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const result = {
      name,
      sizes,
      machine: before,
      loadAfter: machine().load,
      seconds,
      tables,
      goals,
    }
    for (const { title, rows } of tables) process.stdout.write(`${table(title, rows)}\n`)
    for (const goal of goals) {
      const word = options.short ? 'not judged' : goal.met ? 'met' : 'MISSED'
      process.stdout.write(`${word}: ${goal.goal}: ${goal.figure}\n`)
      if (!goal.met && !options.short) missed.push(`${name}: ${goal.goal}: ${goal.figure}`)
    }
    const load = `load ${before.load[0]} before, ${result.loadAfter[0]} after`
    const file = await saveResult(options.short ? `${name}.short` : name, result)
    process.stdout.write(`${name}: ${seconds} s, ${load}; ${file}\n\n`)
  }
} finally {
  await servers.stop()
}
if (missed.length > 0) {
  process.stdout.write(`missed:\n  ${missed.join('\n  ')}\n`)
  process.exitCode = 1
}

/** A bench's own, then what the command line says of those names. */
function sizesOf(bench) {
  const sizes = { ...(options.short ? { ...bench.full, ...bench.short } : bench.full) }
  const changes = options.set.map((pair) => pair.split('='))
  if (options.rounds !== undefined) changes.push(['rounds', options.rounds])
  for (const [size, text] of changes) {
    if (!(size in sizes)) continue
    const list = String(text).split(',').map(Number)
    if (list.some((value) => !(value > 0))) throw new Error(`${size}=${text}: a number above 0`)
    sizes[size] = Array.isArray(sizes[size]) ? list : list[0]
  }
  return sizes
}
