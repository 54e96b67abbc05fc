/**
 * Mends one deal by the job's own code paths, each remedy in a transaction of its own under the row's
 * lock, where it is looked again at what is still amiss.
 */

import { sql, type Transaction } from 'kysely'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { lockVersion, type ClaimedProvision } from '../provisioning/candidates.js'
import { GuardRejection, rejectProvision } from '../provisioning/guards.js'
import { provision, type ProvisionContext } from '../provisioning/provision.js'
import { appendAudit, type AuditEntry } from './audit-trail.js'
import { readFactsOf, type FactsSource } from './deal-facts.js'
import { discrepancies, discrepanciesOf, type Discrepancy } from './discrepancy.js'
import type { OperatorContext, ProvisionRow } from './provision-command.js'
import { reemitRow } from './reemit-provisions.js'
import { requeueRow } from './requeue-provisions.js'
import { lockRow } from './target-rows.js'

export interface ReconcileContext extends OperatorContext, FactsSource {
  /** What the job makes chats with. */
  readonly provisioning: ProvisionContext
}

export type MendEnd =
  | { readonly outcome: 'mended' }
  /** Nothing to do: it is in order by now, or will be after the next cycle. */
  | { readonly outcome: 'settled'; readonly why: string }
  | { readonly outcome: 'refused'; readonly why: string }

type Remedy = 'complete' | 'requeue' | 'reemit'

const settled: MendEnd = { outcome: 'settled', why: 'it is in order by now' }

/**
 * @param correlationId of what is written into the feed
 * @throws what the database throws
 */
export async function mendDeal(
  context: ReconcileContext,
  id: string,
  remedy: Remedy,
  entry: AuditEntry,
  correlationId: string,
): Promise<MendEnd> {
  let wroteEvent: boolean | undefined
  try {
    wroteEvent = await inRowTransaction(context.db, async (trx) => {
      const row = await lockRow(trx, id, sql<boolean>`true`)
      const facts = row && (await readFactsOf(trx, context, id))
      if (facts === undefined || row === undefined) return undefined
      const open = discrepanciesOf(facts, context.maxAttempts).filter(
        ({ name }) => remedyOf(row, name) === remedy,
      )
      if (open.length === 0) return undefined
      await appendAudit(trx, { ...entry, filter: whatAndWhich(open, entry.filter) }, row.dealId)
      return remedies[remedy](trx, row, context, correlationId)
    })
  } catch (error) {
    if (error instanceof GuardRejection) return { outcome: 'refused', why: `guard:${error.code}` }
    throw error
  }
  if (wroteEvent === undefined) return settled
  if (wroteEvent) context.onEventWritten?.()
  return { outcome: 'mended' }
}

/** A row that is not Ready yet is completed by the job, which is told so by making it due. */
export function remedyOf(
  { status }: Pick<ProvisionRow, 'status'>,
  name: Discrepancy['name'],
): Remedy | 'person' {
  const { remedy } = discrepancies[name]
  return remedy === 'complete' && status !== 'Ready' ? 'requeue' : remedy
}

function whatAndWhich(open: readonly Discrepancy[], filter: string | null): string {
  const names = open.map(({ name }) => name).join(',')
  return filter === null ? names : `${names} of ${filter}`
}

type Carry = (
  trx: Transaction<Database>,
  row: ProvisionRow,
  context: ReconcileContext,
  correlationId: string,
) => Promise<boolean>

/** Each tells whether it wrote an event. */
const remedies: Readonly<Record<Remedy, Carry>> = {
  reemit: (trx, row, context) => reemitRow(trx, row, context),

  async requeue(trx, row, context) {
    const claimed = await claim(trx, row)
    const code = rejectProvision(claimed, context.provisioning.knownRoles)
    // It would only fail again: the cause is to be mended first.
    if (code !== undefined) throw new GuardRejection(code)
    return requeueRow(trx, row, context)
  },

  async complete(trx, row, context, correlationId) {
    const claimed = await claim(trx, row)
    const chatId = await provision(trx, claimed, correlationId, context.provisioning)
    if (chatId === row.chatId) return false
    await sql`
      update messenger.deal_chat_provisions
      set chat_id = ${chatId}, updated_at = clock_timestamp()
      where id = ${row.id}
    `.execute(trx)
    return reemitRow(trx, { ...row, chatId }, context)
  },
}

/** The row that is locked already, with all that provisioning needs. */
async function claim(trx: Transaction<Database>, row: ProvisionRow): Promise<ClaimedProvision> {
  const claimed = await lockVersion(trx, row.id, row.xmin)
  if (claimed === undefined) throw new Error('the locked row has changed')
  return claimed
}
