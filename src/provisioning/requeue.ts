/**
 * The operator's re-enqueue: attempts = 0 and due now, the status left as it is. A poison row's
 * re-enqueue says Provisioning, so that crm shows "creating" again. Audited with who and why.
 */

import { sql, type Kysely, type Transaction } from 'kysely'
import { appendDealChatStatusChanged } from '../outbox/append-event.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import { classifyFailure } from '../postgres/failure-class.js'
import type { Database, ProvisionStatus } from '../postgres/schema.js'

export interface OperatorOrder {
  /** Who orders it. */
  readonly by: string
  readonly reason: string
  /** Tell what would be done, and change nothing. */
  readonly dryRun: boolean
  /** Leave rows that are no longer out of attempts: someone else was quicker. */
  readonly onlyPoison: boolean
}

export interface RequeueContext {
  readonly db: Kysely<Database>
  readonly topic: string
  readonly maxAttempts: number
}

export interface RequeueResult {
  /** Deals that were (or, in a dry run, would be) enqueued again. */
  readonly requeued: readonly string[]
  readonly refused: readonly { readonly dealId: string; readonly why: string }[]
}

/** Enqueues given deals again, each in a transaction of its own; a refusal doesn't stop the others. */
export async function requeueDeals(
  context: RequeueContext,
  dealIds: readonly string[],
  order: OperatorOrder,
): Promise<RequeueResult> {
  const requeued: string[] = []
  const refused: { dealId: string; why: string }[] = []
  for (const dealId of new Set(dealIds.map((id) => id.toLowerCase()))) {
    const why = await requeueDeal(context, dealId, order).catch(whyNotNow)
    if (why === undefined) requeued.push(dealId)
    else refused.push({ dealId, why })
  }
  return { requeued, refused }
}

/** Contention or an outage concerns this deal's try; who reads the result sees what was done before. */
function whyNotNow(error: unknown): string {
  const failure = classifyFailure(error)
  if (failure.class === 'contention') {
    return `someone else holds its row (${failure.code}); try again`
  }
  if (failure.class === 'infrastructure') {
    return `the database was lost (${failure.code}); look whether it was done, then try again`
  }
  throw error
}

/** All rows that are out of attempts, as requeueDeals takes them. */
export async function findPoison(context: RequeueContext): Promise<string[]> {
  const rows = await context.db
    .selectFrom('messenger.deal_chat_provisions')
    .select('deal_id')
    .where('status', '=', 'Failed')
    .where('attempts', '>=', context.maxAttempts)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.deal_id)
}

interface LockedRow {
  readonly id: string
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly chatId: string | null
}

/** Gives why it was refused, or undefined where it was done. */
async function requeueDeal(
  context: RequeueContext,
  dealId: string,
  order: OperatorOrder,
): Promise<string | undefined> {
  return inRowTransaction(context.db, async (trx) => {
    const row = await lockDeal(trx, dealId)
    if (row === undefined) return 'there is no provision for this deal'
    if (row.status === 'Ready') return 'it is Ready already'
    const isPoison = row.status === 'Failed' && row.attempts >= context.maxAttempts
    if (order.onlyPoison && !isPoison) return 'it has attempts left again'
    if (order.dryRun) return undefined
    // updated_at stays: a row that hangs in Provisioning is to be found stuck at once.
    await sql`
      update messenger.deal_chat_provisions
      set attempts = 0, next_attempt_at = clock_timestamp()
      where id = ${row.id}
    `.execute(trx)
    if (isPoison) {
      await appendDealChatStatusChanged(trx, {
        topic: context.topic,
        dealId,
        chatId: row.chatId,
        status: 'Provisioning',
        correlationId: null,
        traceparent: null,
      })
    }
    await trx
      .insertInto('messenger.chat_provision_audit')
      .values({
        actor: order.by,
        action: 'requeue',
        deal_id: dealId,
        reason: order.reason,
        affected: 1,
      })
      .execute()
    return undefined
  })
}

async function lockDeal(
  trx: Transaction<Database>,
  dealId: string,
): Promise<LockedRow | undefined> {
  return trx
    .selectFrom('messenger.deal_chat_provisions')
    .select(['id', 'status', 'attempts', 'chat_id as chatId'])
    .where('deal_id', '=', dealId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}
