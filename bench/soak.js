/**
 * A long run of `serve` under steady load and faults: does it lose or double anything, does it grow?
 *
 *   node bench/soak.js                  sixty minutes
 *   node bench/soak.js --minutes 5      shorter; a run of under half an hour judges growth by little
 *   node bench/soak.js --again          judges and draws what the last run has measured
 *   … --write                           puts chart and tables into docs/soak.md and docs/soak.svg
 *
 * Figures, chart and the log of `serve` go to .cache/soak. Exit code 1 where a goal was missed.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { machine, table } from './frame/report.js'
import { drawSoak } from './soak/chart.js'
import { faults } from './soak/faults.js'
import { startLoad } from './soak/load.js'
import { findLosses, settle } from './soak/losses.js'
import { startOnlookers } from './soak/onlookers.js'
import { startSampling } from './soak/samples.js'
import { writePage } from './soak/page.js'
import { judge } from './soak/verdict.js'
import { startWorld } from './soak/world.js'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    again: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const minutes = Number(options.minutes)
if (!(minutes > 0)) {
  process.stderr.write(`--minutes ${options.minutes}: a number above 0\n`)
  process.exit(2)
}

const folder = join(import.meta.dirname, '../.cache/soak')
const measuredFile = join(folder, 'soak.json')
/** As many faults in each half of an hour as there are kinds; in a short run each kind comes once. */
const faultEverySeconds = Math.min(240, (minutes * 60) / (faults.length + 1))

await mkdir(folder, { recursive: true })
if (!options.again) await writeFile(measuredFile, JSON.stringify(await soak(minutes * 60)))
const measured = JSON.parse(await readFile(measuredFile, 'utf8'))
const { tables, goals } = judge(measured)
await writeFile(join(folder, 'soak.svg'), drawSoak(measured))
if (options.write) await writePage(measured, { tables, goals })
for (const { title, rows } of tables) process.stdout.write(`${table(title, rows)}\n`)
for (const fault of measured.losses.faults.slice(0, 20)) process.stdout.write(`${fault}\n`)
for (const { goal, figure, met } of goals) {
  process.stdout.write(`${met ? 'met' : 'MISSED'}: ${goal}: ${figure}\n`)
  if (!met) process.exitCode = 1
}

async function soak(seconds) {
  const before = machine()
  const world = await startWorld(folder)
  const startedAt = performance.now()
  const now = () => (performance.now() - startedAt) / 1_000
  try {
    const load = startLoad(world)
    const onlookers = startOnlookers(world)
    const sampling = startSampling(world, now)
    const inflicted = await inflict(world, now, seconds)
    await load.stop()
    const left = await settle(world, load)
    await Promise.all([sampling.stop(), onlookers.stop()])
    say(now, `the load has ended, ${left.open} deals and ${left.waiting} events are left`)
    const losses = await findLosses(world, load.fed)
    losses.faults.push(...inflicted.flatMap(({ error }) => error ?? []))
    await world.serve.stop().catch((error) => losses.faults.push(error.message))
    return {
      ...{ seconds, machine: before, loadAfter: machine().load, inflicted, losses },
      ...{ load: load.counts, onlookers: onlookers.counts },
      samples: sampling.samples.filter(({ at }) => at <= seconds),
      minutes: sampling.minutes.filter(({ minute }) => minute * 60 <= seconds),
    }
  } finally {
    await world.stop()
  }
}

async function inflict(world, now, seconds) {
  const inflicted = []
  for (let turn = 1; turn * faultEverySeconds < seconds; turn += 1) {
    await delay(Math.max(0, 1_000 * (turn * faultEverySeconds - now())))
    const [name, work] = faults[(turn - 1) % faults.length]
    const from = now()
    say(now, name)
    // What a fault could not do is told with the rest at the end: the run itself is worth going on with.
    const error = await work(world).then(
      () => undefined,
      (thrown) => `${name}: ${thrown.message}`,
    )
    inflicted.push({ name, from, to: now(), ...(error && { error }) })
  }
  await delay(Math.max(0, 1_000 * (seconds - now())))
  return inflicted
}

function say(now, line) {
  process.stderr.write(`${(now() / 60).toFixed(1).padStart(5)} min  ${line}\n`)
}
