/**
 * Runs a choice of the tests on each version that is promised, and prints a table: `npm run test:matrix`.
 * One column at a time differs from what `npm test` runs the whole suite on. With --write the table goes
 * into README.md. Exit code 1 where a cell is not green.
 *
 * usage: node scripts/test-matrix.js [--write] [PART ...]   such as: PostgreSQL Kafka
 */

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath, URL } from 'node:url'
import { cells } from './matrix/cells.js'
import { programOf } from './matrix/programs.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const report = `${root}.cache/matrix-report.json`
const parts = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const chosen = cells.filter(({ part }) => parts.length === 0 || parts.includes(part))

function runTests({ tests }, { node, environment }) {
  rmSync(report, { force: true })
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...tests]
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile=${report}`]
  const run = spawnSync(node, [...args, ...reporters], {
    cwd: root,
    // As in CI: a skipped test is a failed one.
    env: { ...process.env, CI: 'true', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  const { numPassedTests: passed, numFailedTests: failed } = readReport()
  const isGreen = run.status === 0 && passed > 0
  if (!isGreen) process.stderr.write(`${run.stderr}\n`)
  return { passed, failed, isGreen }
}

function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    // It broke down before its report.
    return { numPassedTests: 0, numFailedTests: 0 }
  }
}

const rows = []
let allGreen = true
for (const cell of chosen) {
  const started = performance.now()
  const program = await programOf(cell)
  const result = program === undefined ? undefined : runTests(cell, program)
  const name = `${cell.part} ${program?.exact ?? cell.version}${cell.version === "Debian's" ? " (Debian's)" : ''}`
  const seconds = `${Math.round((performance.now() - started) / 1000)} s`
  const passed = result === undefined ? 'not on this machine' : `${result.passed} passed`
  const verdict =
    result?.isGreen === true ? passed : `**${passed}, ${result?.failed ?? 'none'} failed**`
  allGreen &&= result?.isGreen === true
  rows.push(`| ${name} | ${verdict} | ${seconds} |`)
  process.stdout.write(`${rows.at(-1)}\n`)
}

if (process.argv.includes('--write')) {
  const file = new URL('../README.md', import.meta.url)
  const text = readFileSync(file, 'utf8')
  const [begin, end] = ['<!-- matrix -->\n', '<!-- /matrix -->']
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  if (from < begin.length || to < from) throw new Error('README.md has lost its marks of matrix')
  // Each version's last figures: of those that were left out now, the ones that stand there.
  const kept = text.slice(from, to).split('\n').filter(isFigure)
  const partOf = (row) => cells.findIndex(({ part }) => row.startsWith(`| ${part} `))
  const all = new Map([...kept, ...rows].map((row) => [row.split('|')[1], row]))
  const sorted = [...all.values()].sort(
    (a, b) => partOf(a) - partOf(b) || a.localeCompare(b, 'en', { numeric: true }),
  )
  const table = ['| version | tests | time |', '| --- | --- | --- |', ...sorted].join('\n')
  writeFileSync(file, `${text.slice(0, from)}${table}\n${text.slice(to)}`)
}

function isFigure(line) {
  return cells.some(({ part }) => line.startsWith(`| ${part} `))
}

process.exitCode = allGreen ? 0 : 1
