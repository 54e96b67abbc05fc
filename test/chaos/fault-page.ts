/** The page docs/faults.md: each chaos file keeps its own part of it, where CHAOS_WRITE is set. */

import { writePart } from '../support/written-part.js'
import type { StormReport } from './storm.js'

const page = 'docs/faults.md'

/** Tells the part on stderr, and writes it between the page's marks of that name. */
export async function keepPart(name: 'storm' | 'kills', lines: readonly string[]): Promise<void> {
  process.stderr.write(`${lines.join('\n')}\n`)
  if (process.env['CHAOS_WRITE'] === undefined) return
  await writePart(page, name, lines)
}

export function stormPart({ tried, deals, violations }: StormReport): string[] {
  return [
    '| fault | times tried |',
    '|---|---|',
    ...[...tried].map(([name, times]) => `| ${name} | ${times} |`),
    `| **all** | **${[...tried.values()].reduce((sum, times) => sum + times, 0)}** |`,
    '',
    `${deals} deals, 6 % of them poison of all kinds: **${violations.length} lost, doubled or out of order**.`,
  ]
}

export interface KillReport {
  readonly rows: number
  readonly kills: number
  readonly violations: readonly string[]
}

export function killsPart(runs: readonly KillReport[]): string[] {
  return [
    '| run | rows | workers killed | lost, doubled or out of order |',
    '|---|---|---|---|',
    ...runs.map(
      ({ rows, kills, violations }, n) =>
        `| ${n + 1} | ${rows} | ${kills} | ${violations.length} |`,
    ),
  ]
}
