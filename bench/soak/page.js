/** The page docs/soak.md: keeps what a run has found between its marks, and the chart beside it. */

import { readFile, writeFile } from 'node:fs/promises'
import { drawSoak } from './chart.js'

const page = new globalThis.URL('../../docs/soak.md', import.meta.url)
const chart = new globalThis.URL('../../docs/soak.svg', import.meta.url)
const [begin, end] = ['<!-- soak -->', '<!-- /soak -->']

export async function writePage(measured, verdict) {
  const text = await readFile(page, 'utf8')
  const [head, rest] = text.split(begin)
  const [, tail] = rest.split(end)
  await writeFile(page, [head, begin, ...linesOf(measured, verdict), end, tail].join(''))
  await writeFile(chart, drawSoak(measured))
}

function linesOf({ seconds, machine, losses, load, onlookers, inflicted }, verdict) {
  return [
    '\n',
    `${Math.round(seconds / 60)} minutes on ${machine.cores} cores, Node ${machine.node.slice(1)}, with ` +
      `${inflicted.length} faults. ${losses.acknowledged} deals were acknowledged, ${losses.deals} are Ready, each ` +
      `with one chat, its members and one feed row; crm saw ${losses.events} events in order and ` +
      `${losses.redelivered} redeliveries; **${losses.faults.length} lost, doubled or out of order**. ` +
      `An operator had poison mended and re-enqueued by ${load.requeues} jobs, and all Ready deals reconciled by ` +
      `${load.reconciles}; The Deck's stream was opened ${onlookers.streams} times.\n\n`,
    ...verdict.tables.flatMap(({ rows }) => [...markdown(rows), '\n']),
    '| goal | reached | |\n| --- | --: | --- |\n',
    ...verdict.goals.map(
      ({ goal, figure, met }) => `| ${goal} | ${figure} | ${met ? 'met' : '**missed**'} |\n`,
    ),
  ]
}

function markdown(rows) {
  const heads = Object.keys(rows[0])
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  const rule = heads.map((head) => (typeof rows[0][head] === 'number' ? '--:' : '---'))
  return [line(heads), line(rule), ...rows.map((row) => line(heads.map((head) => row[head])))]
}
