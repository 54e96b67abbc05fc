/** The page docs/faults.md: each chaos file keeps its own part of it, where CHAOS_WRITE is set. */

import { readFile, writeFile } from 'node:fs/promises'
import type { StormReport } from './storm.js'

const page = new URL('../../docs/faults.md', import.meta.url)

/** Tells the part on stderr, and writes it between the page's marks of that name. */
export async function keepPart(name: 'storm' | 'kills', lines: readonly string[]): Promise<void> {
  process.stderr.write(`${lines.join('\n')}\n`)
  if (process.env['CHAOS_WRITE'] === undefined) return
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
  const text = await readFile(page, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/faults.md has lost its marks of ${name}`)
  await writeFile(page, `${text.slice(0, from)}${begin}${lines.join('\n')}\n${text.slice(to)}`)
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
