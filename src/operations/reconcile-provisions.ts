/**
 * Holds provisions against the messenger's tables and against what crm was told, names each
 * discrepancy, and mends on request. It goes through the deals in id order in small batches; what is
 * mended is no longer found, so a broken-off run goes on by being given again.
 */

import { uuidv7 } from '../uuid.js'
import { sql } from 'kysely'
import type { AuditEntry } from './audit-trail.js'
import { beginOf, close } from './broken-off.js'
import { readDealFacts } from './deal-facts.js'
import {
  discrepancies,
  discrepanciesOf,
  type DealFacts,
  type DiscrepancyName,
} from './discrepancy.js'
import { mendDeal, remedyOf, type MendEnd, type ReconcileContext } from './mend-deal.js'
import { describeTargets, type ProvisionCommand, type Refusal } from './provision-command.js'
import { missingDeals, whyNotNow } from './row-end.js'
import { isMeant } from './target-rows.js'

export interface Finding {
  readonly dealId: string
  readonly finding: DiscrepancyName
  /** Numbers and codes; null where the finding's name says it all. */
  readonly detail: string | null
  /** What the finding means, and what to do about it. */
  readonly about: string
  readonly todo: string
  readonly outcome: 'found' | MendEnd['outcome'] | 'left'
  /** Why it was refused or left; null otherwise. */
  readonly why: string | null
}

export interface ReconcileCommand extends Omit<ProvisionCommand, 'order' | 'atMost'> {
  /** By whom and why it is mended; undefined: only looked at. */
  readonly mend?: ProvisionCommand['order'] | undefined
}

export interface ReconcileResult {
  readonly examined: number
  readonly found: number
  /** Deals that were mended by this call. */
  readonly affected: number
  readonly refused: readonly Refusal[]
  readonly stopped: boolean
}

/**
 * @param onFinding told of each finding, after its mending where that was asked for
 * @throws AppError DATABASE_UNAVAILABLE where the database was lost: given again, it goes on
 */
export async function reconcileProvisions(
  context: ReconcileContext,
  command: ReconcileCommand,
  onFinding: (finding: Finding) => void,
): Promise<ReconcileResult> {
  const { targets, mend, signal, confirmed = Number.POSITIVE_INFINITY } = command
  const entry: AuditEntry | undefined =
    mend === undefined || mend === 'dry run'
      ? undefined
      : { action: 'reconcile', order: mend, filter: describeTargets(targets) }
  const begin = entry && (await beginOf(context.db, entry))
  const correlationId = uuidv7()
  const refused = await missingDeals(context.db, targets)
  let examined = 0
  let found = 0
  let affected = 0
  const meant = isMeant(targets, sql<boolean>`true`, context.maxAttempts)
  const result = (stopped: boolean): ReconcileResult => ({
    ...{ examined, found, affected, refused, stopped },
  })
  for await (const facts of readDealFacts(context.db, context, meant)) {
    if (signal?.aborted === true) return result(true)
    if (examined >= confirmed) break
    const mendOnce = entry && mender(context, facts, entry, correlationId, affected)
    const findings = await findingsOf(context, facts, mendOnce)
    for (const finding of findings) {
      onFinding(finding)
      if (finding.outcome === 'refused')
        refused.push({ dealId: facts.dealId, why: whyText(finding) })
    }
    examined += 1
    found += findings.length
    if (findings.some(({ outcome }) => outcome === 'mended')) affected += 1
    command.onProgress?.(examined)
  }
  if (entry !== undefined) await close(context.db, entry, begin)
  return result(false)
}

type Mender = (remedy: Parameters<typeof mendDeal>[2]) => Promise<MendEnd>

/** Each remedy is applied once for a deal, however many findings ask for it. */
function mender(
  context: ReconcileContext,
  { id }: DealFacts,
  entry: AuditEntry,
  correlationId: string,
  affected: number,
): Mender {
  const ends = new Map<string, Promise<MendEnd>>()
  return (remedy) => {
    const end =
      ends.get(remedy) ??
      mendDeal(context, id, remedy, entry, correlationId).catch((error: unknown) => ({
        outcome: 'refused' as const,
        ...whyNotNow(error, affected),
      }))
    ends.set(remedy, end)
    return end
  }
}

async function findingsOf(
  context: ReconcileContext,
  facts: DealFacts,
  mend: Mender | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { name, detail } of discrepanciesOf(facts, context.maxAttempts)) {
    const { about, todo } = discrepancies[name]
    const remedy = remedyOf(facts, name)
    const end = await endOf(remedy, facts, detail, mend)
    findings.push({ dealId: facts.dealId, finding: name, detail, about, todo, ...end })
  }
  return findings
}

async function endOf(
  remedy: ReturnType<typeof remedyOf>,
  facts: DealFacts,
  detail: string | null,
  mend: Mender | undefined,
): Promise<Pick<Finding, 'outcome' | 'why'>> {
  if (mend === undefined) return { outcome: 'found', why: null }
  if (remedy === 'person') return { outcome: 'left', why: 'it needs a person' }
  if (remedy === 'requeue') {
    if (detail?.startsWith('guard:') === true) return { outcome: 'left', why: detail }
    if (facts.isDueAfresh) return { outcome: 'settled', why: 'due already; the next cycle does it' }
  }
  const end = await mend(remedy)
  return { outcome: end.outcome, why: 'why' in end ? end.why : null }
}

function whyText({ finding, why }: Finding): string {
  return `${finding}: ${why ?? 'refused'}`
}
