/**
 * Tells crm once more how deals stand: a new event with the present state, under the row's lock, so
 * that it comes after all that the deal has said before. The contract is last write wins.
 */

import { sql, type Transaction } from 'kysely'
import { appendDealChatStatusChanged } from '../outbox/append-event.js'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import { actOnProvisions, countDeals, type ProvisionAction } from './act-on-provisions.js'
import type {
  ActionResult,
  ProvisionCommand,
  OperatorContext,
  ProvisionRow,
  Targets,
} from './provision-command.js'

/** @throws AppError of actOnProvisions */
export function reemitProvisions(
  context: OperatorContext,
  command: ProvisionCommand,
): Promise<ActionResult> {
  return actOnProvisions(context, command, reemit(context))
}

/** How many deals a re-emit would go through. */
export function countReemit(context: OperatorContext, targets: Targets): Promise<number> {
  return countDeals(context, targets, reemit(context))
}

function reemit(context: OperatorContext): ProvisionAction {
  return {
    name: 'reemit',
    eligible: sql<boolean>`true`,
    refuse: () => undefined,
    carryOut: (trx, row) => reemitRow(trx, row, context),
  }
}

/** Under the row's lock; the row itself stays untouched. */
export async function reemitRow(
  trx: Transaction<Database>,
  row: ProvisionRow,
  context: OperatorContext,
): Promise<true> {
  await appendDealChatStatusChanged(trx, {
    topic: context.topic,
    dealId: row.dealId,
    chatId: row.chatId,
    status: presentStatus(row, context.maxAttempts),
    correlationId: null,
    traceparent: null,
  })
  return true
}

/** What crm is to show: a failure that still has attempts is "creating". */
export function presentStatus(
  row: Pick<ProvisionRow, 'status' | 'attempts'>,
  maxAttempts: number,
): ProvisionStatus {
  if (row.status === 'Ready') return 'Ready'
  return row.attempts >= maxAttempts ? 'Failed' : 'Provisioning'
}
