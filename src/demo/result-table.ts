/** The end of the demo as text: one line for each kind of deal, then each deal that is not in place. */

import { tableLines } from '../commands/output.js'
import type { CheckedDeal } from './check-deals.js'
import type { Expected } from './demo-deal.js'

const columns = ['what was wrong', 'deals', 'must end as', 'attempts', 'crm saw', 'ok'] as const

/** Fits a terminal of 100 columns. */
export function resultTable(checked: readonly CheckedDeal[]): string[] {
  const kinds = [...new Set(checked.map(({ deal }) => deal.kind))]
  const rows = kinds.map((kind) => rowOf(kind, checked))
  const lines = tableLines(columns, rows)
  const [header = '', ...body] = lines
  return [header, '─'.repeat(Math.max(...lines.map((line) => line.length))), ...body]
}

/** One line for each deal that is not where it should be. */
export function misplacedDeals(checked: readonly CheckedDeal[]): string[] {
  return checked
    .filter(({ faults }) => faults.length > 0)
    .map(({ deal, faults }) => `${deal.dealId} (${deal.kind}): ${faults.join('; ')}`)
}

export function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`
}

function rowOf(kind: string, checked: readonly CheckedDeal[]): string[] {
  const deals = checked.filter(({ deal }) => deal.kind === kind)
  return [
    kind,
    String(deals.length),
    common(deals.map(({ deal }) => outcome(deal.expected))),
    common(deals.map(({ look }) => String(look?.attempts ?? '-'))),
    common(deals.map(({ seen }) => events(seen.map(({ status }) => status)))),
    verdict(deals),
  ]
}

function outcome({ status, lastError, untouched }: Expected): string {
  if (untouched) return `${status}, left alone`
  // The class stays out, for the line's width; the check has it.
  const code = lastError?.split(':')[1]
  return code === undefined ? status : `${status} ${code}`
}

function events(statuses: readonly string[]): string {
  if (statuses.length === 0) return 'nothing'
  // Cut, for one line fits only so much; it stands alone nowhere.
  return statuses.join('→').replaceAll('Provisioning→', 'Prov.→')
}

function verdict(deals: readonly CheckedDeal[]): string {
  const wrong = deals.filter(({ faults }) => faults.length > 0).length
  return wrong === 0 ? 'ok' : `${wrong} NOT`
}

/** What all have in common, or that they differ: the list below tells how. */
function common(texts: readonly string[]): string {
  const different = [...new Set(texts)]
  return different.length === 1 ? (different[0] ?? '') : 'mixed'
}
