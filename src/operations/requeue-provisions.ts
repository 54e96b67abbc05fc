/**
 * The operator's re-enqueue: attempts = 0 and due now, the status left as it is. A poison row's
 * re-enqueue says Provisioning, so that crm shows "creating" again.
 */

import { sql, type Transaction } from 'kysely'
import { appendDealChatStatusChanged } from '../outbox/append-event.js'
import type { Database } from '../postgres/schema.js'
import { beforeRequeue } from './undo/undo-requeue.js'
import { actOnProvisions, countDeals, type ProvisionAction } from './act-on-provisions.js'
import type {
  ActionResult,
  ProvisionCommand,
  OperatorContext,
  ProvisionRow,
  Targets,
} from './provision-command.js'

/** @throws AppError of actOnProvisions */
export function requeueProvisions(
  context: OperatorContext,
  command: ProvisionCommand,
): Promise<ActionResult> {
  return actOnProvisions(context, command, requeue(context))
}

/** How many deals a re-enqueue would go through. */
export function countRequeue(context: OperatorContext, targets: Targets): Promise<number> {
  return countDeals(context, targets, requeue(context))
}

function requeue(context: OperatorContext): ProvisionAction {
  return {
    name: 'requeue',
    // Ready rows have nothing to do; one that was named is refused, one of many is just not meant.
    eligible: sql<boolean>`p.status <> 'Ready'`,
    before: beforeRequeue,
    refuse: ({ status }) => (status === 'Ready' ? 'it is Ready already' : undefined),
    carryOut: (trx, row) => requeueRow(trx, row, context),
  }
}

/** Under the row's lock. True where it wrote an event. */
export async function requeueRow(
  trx: Transaction<Database>,
  row: ProvisionRow,
  context: OperatorContext,
): Promise<boolean> {
  // updated_at stays: a row that hangs in Provisioning is to be found stuck at once.
  await sql`
    update messenger.deal_chat_provisions
    set attempts = 0, next_attempt_at = clock_timestamp()
    where id = ${row.id}
  `.execute(trx)
  if (row.status !== 'Failed' || row.attempts < context.maxAttempts) return false
  await appendDealChatStatusChanged(trx, {
    topic: context.topic,
    dealId: row.dealId,
    chatId: row.chatId,
    status: 'Provisioning',
    correlationId: null,
    traceparent: null,
  })
  return true
}
