/** What a bench has found: a table for people, JSON in a folder that git ignores, and goals. */

import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

export const resultFolder = join(import.meta.dirname, '../../.cache/bench')

/**
 * @param figures by name, one of each round, as `interleave` gives them
 * @param base the name that the others are measured by
 * @returns rows for `table`: the median, and the median of the rounds' ratios
 */
export function rankedRows(figures, base, { median, ratio }, extra = {}) {
  return Object.entries(figures).map(([name, values]) => ({
    ...extra,
    who: name,
    median: Math.round(median(values)),
    ratio: Number(ratio(values, figures[base]).toFixed(2)),
    'each round': values.map((value) => Math.round(value)).join(' '),
  }))
}

/** @param rows objects with the same keys, which head the columns */
export function table(title, rows) {
  const heads = Object.keys(rows[0] ?? {})
  const cells = [heads, ...rows.map((row) => heads.map((head) => String(row[head])))]
  const widths = heads.map((_, column) => Math.max(...cells.map((line) => line[column].length)))
  const isNumber = heads.map((head) => rows.every((row) => typeof row[head] === 'number'))
  const lines = cells.map((line) =>
    line
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  )
  return `${title}\n  ${lines.join('\n  ')}\n`
}

/** What the figures were taken on; the load tells who else was there. */
export function machine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load: loadavg().map((load) => Number(load.toFixed(1))),
  }
}

export async function saveResult(name, result) {
  await mkdir(resultFolder, { recursive: true })
  const file = join(resultFolder, `${name}.json`)
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`)
  return file
}

export function atLeast(goal, bound, figure) {
  return {
    goal: `${goal}, at least ${bound}`,
    figure: Number(figure.toFixed(2)),
    met: figure >= bound,
  }
}

export function below(goal, bound, figure) {
  return { goal: `${goal}, below ${bound}`, figure: Number(figure.toFixed(2)), met: figure < bound }
}
