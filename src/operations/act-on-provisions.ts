/**
 * Carries out one action on many provisions: in id order, each in a short transaction of its own
 * together with its line in the audit, so that the command can end at any point and go on later.
 */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import { AppError } from '../errors.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { appendAudit, lineOfRequest, type AuditedAction, type AuditEntry } from './audit-trail.js'
import { beginOf, close, countChanged, isDoneBefore, type Begin } from './broken-off.js'
import {
  describeTargets,
  type ActionResult,
  type ProvisionCommand,
  type OperatorContext,
  type ProvisionRow,
  type Targets,
} from './provision-command.js'
import { missingDeals, whyNotNow } from './row-end.js'
import { countRows, isMeant, lockRow, readRows } from './target-rows.js'

export interface ProvisionAction {
  readonly name: AuditedAction
  /** Over p: which rows a filter may choose. */
  readonly eligible: RawBuilder<boolean>
  /** A json expression over p, under the row's lock: what it takes to take the action back. */
  readonly before?: RawBuilder<unknown>
  /** Why this row can't be acted on, or undefined. */
  refuse(row: ProvisionRow): string | undefined
  /** Under the row's lock. True where it wrote an event. */
  carryOut(trx: Transaction<Database>, row: ProvisionRow): Promise<boolean>
}

/** How many deals a command would go through. */
export async function countDeals(
  context: OperatorContext,
  targets: Targets,
  action: ProvisionAction,
): Promise<number> {
  if ('dealIds' in targets) return targets.dealIds.length
  return countRows(context.db, isMeant(targets, action.eligible, context.maxAttempts))
}

/**
 * A refusal doesn't stop the others.
 *
 * @throws AppError TOO_MANY where more deals are meant than `atMost`: nothing was done;
 *   DATABASE_UNAVAILABLE where the database was lost: the same command goes on from there
 */
export async function actOnProvisions(
  context: OperatorContext,
  command: ProvisionCommand,
  action: ProvisionAction,
): Promise<ActionResult> {
  const { targets, order, atMost, confirmed = Number.POSITIVE_INFINITY } = command
  if (atMost !== undefined) await refuseTooMany(context, targets, action, atMost)
  if (order === 'dry run') return preview(context, targets, action)

  const entry: AuditEntry = { action: action.name, order, filter: describeTargets(targets) }
  const begin = await beginOf(context.db, entry)
  const meant = isMeant(targets, action.eligible, context.maxAttempts)
  const refused = await missingDeals(context.db, targets)
  const changedBefore =
    Number.isFinite(confirmed) && begin !== undefined
      ? await countChanged(context.db, entry, begin)
      : 0
  let affected = 0
  let skipped = 0
  let doneBefore = 0
  let auditId: string | null = null
  const result = (stopped: boolean): ActionResult => ({
    ...{ affected, skipped, doneBefore, refused, stopped, auditId },
  })
  for await (const { id, dealId } of readRows(context.db, meant)) {
    if (command.signal?.aborted === true) return result(true)
    if (changedBefore + affected >= confirmed) break
    const end = await actOnRow(context, { id, meant, entry, begin, action }).catch(
      (error: unknown) => whyNotNow(error, affected),
    )
    if (typeof end === 'object' && 'line' in end) {
      affected += 1
      if (entry.filter === null) auditId = end.line
    } else if (end === 'skipped' || end === 'done before') skipped += 1
    else refused.push({ dealId, why: end.why })
    if (end === 'done before') doneBefore += 1
    command.onProgress?.(affected + skipped + refused.length)
  }
  auditId = (await close(context.db, entry, begin)) ?? auditId
  return result(false)
}

async function refuseTooMany(
  context: OperatorContext,
  targets: Targets,
  action: ProvisionAction,
  atMost: number,
): Promise<void> {
  const count = await countDeals(context, targets, action)
  if (count <= atMost) return
  throw new AppError(
    'TOO_MANY',
    `This means ${count} deals, and at most ${atMost} can be done at once. Narrow the filter.`,
  )
}

const nothingSkipped = { skipped: 0, doneBefore: 0, stopped: false, auditId: null }

/** In a dry run nothing is locked, so it waits for nobody. */
async function preview(
  context: OperatorContext,
  targets: Targets,
  action: ProvisionAction,
): Promise<ActionResult> {
  if ('filter' in targets) {
    const affected = await countDeals(context, targets, action)
    return { ...nothingSkipped, affected, refused: [] }
  }
  const refused = await missingDeals(context.db, targets)
  let affected = 0
  const meant = isMeant(targets, action.eligible, context.maxAttempts)
  for await (const row of readRows(context.db, meant)) {
    const why = action.refuse(row)
    if (why === undefined) affected += 1
    else refused.push({ dealId: row.dealId, why })
  }
  return { ...nothingSkipped, affected, refused }
}

type RowEnd =
  /** Done, with its line in the audit. */
  { readonly line: string } | 'done before' | 'skipped' | { readonly why: string }

interface RowCommand {
  readonly id: string
  readonly meant: RawBuilder<boolean>
  readonly entry: AuditEntry
  readonly begin: Begin | undefined
  readonly action: ProvisionAction
}

async function actOnRow(
  context: OperatorContext,
  { id, meant, entry, begin, action }: RowCommand,
): Promise<RowEnd> {
  const { end, wroteEvent } = await inRowTransaction(context.db, async (trx) => {
    const untouched = (end: RowEnd) => ({ end, wroteEvent: false })
    const row = await lockRow(trx, id, meant)
    if (row === undefined) return untouched('skipped')
    const doneByRequest = await lineOfRequest(trx, entry, row.dealId)
    if (doneByRequest !== undefined) return untouched({ line: doneByRequest })
    const why = action.refuse(row)
    if (why !== undefined) return untouched({ why })
    if (begin !== undefined && (await isDoneBefore(trx, entry, begin, row.dealId)))
      return untouched('done before')
    const before =
      action.before &&
      sql`select ${action.before} from messenger.deal_chat_provisions p where p.id = ${row.id}::uuid`
    const line = await appendAudit(trx, entry, row.dealId, before)
    return { end: { line }, wroteEvent: await action.carryOut(trx, row) }
  })
  if (wroteEvent) context.onEventWritten?.()
  return end
}
