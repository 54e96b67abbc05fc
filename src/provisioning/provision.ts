/**
 * Makes or completes one deal's chat inside the row's transaction: find it or create it, check it,
 * write its feed row, reconcile its participants. A repeat only completes what lacks.
 */

import type { Transaction } from 'kysely'
import { uuidv7 } from '../uuid.js'
import type { Database } from '../postgres/schema.js'
import type { ClaimedProvision } from './candidates.js'
import {
  GuardRejection,
  rejectChat,
  rejectMembers,
  rejectProvision,
  type GuardCode,
} from './guards.js'
import type { DealChat, MessengerChats } from './messenger-chats.js'

/** The domain fact that a deal has got a chat. */
export interface ChatCreated {
  readonly chatId: string
  readonly dealId: string
  readonly correlationId: string
}

/** Reacts to the fact in the same transaction. */
export type ChatCreatedSubscriber = (trx: Transaction<Database>, fact: ChatCreated) => Promise<void>

export interface ProvisionContext {
  readonly chats: MessengerChats
  readonly knownRoles: ReadonlySet<string>
  readonly onChatCreated: readonly ChatCreatedSubscriber[]
  /** The adapter's part of the one statement; undefined where each row is to be done step by step. */
  readonly creation: MessengerChats['creation']
}

/**
 * @returns the id of the deal's chat
 * @throws GuardRejection where the provision or the chat that is there can't be accepted
 */
export async function provision(
  trx: Transaction<Database>,
  row: ClaimedProvision,
  correlationId: string,
  context: ProvisionContext,
): Promise<string> {
  refuse(rejectProvision(row, context.knownRoles))
  const found = await context.chats.findByDeal(trx, row.dealId)
  const chatId =
    found === undefined
      ? await createChat(trx, row, correlationId, context)
      : await adoptChat(trx, row, found, correlationId, context)
  // The list may have changed since it was read with the lock, for whoever adds a member needn't hold
  // the row: what was written is what must be acceptable.
  const written = await context.chats.reconcileParticipants(trx, chatId, row.id)
  refuse(rejectMembers(written, context.knownRoles))
  return chatId
}

async function createChat(
  trx: Transaction<Database>,
  row: ClaimedProvision,
  correlationId: string,
  context: ProvisionContext,
): Promise<string> {
  const { dealId, title, projectId, dealTenantId } = row
  const id = uuidv7()
  if (await context.chats.create(trx, { id, dealId, title, projectId, dealTenantId })) {
    for (const react of context.onChatCreated)
      await react(trx, { chatId: id, dealId, correlationId })
    return id
  }
  // A rival committed the deal's chat since we looked; a new statement sees it (read committed).
  const rivals = await context.chats.findByDeal(trx, dealId)
  if (rivals === undefined) throw new Error('the chat of the deal exists but can not be read')
  return adoptChat(trx, row, rivals, correlationId, context)
}

async function adoptChat(
  trx: Transaction<Database>,
  row: ClaimedProvision,
  chat: DealChat,
  correlationId: string,
  context: ProvisionContext,
): Promise<string> {
  refuse(rejectChat(chat, row.dealTenantId))
  await context.chats.ensureFeedRow(trx, chat.id, correlationId)
  return chat.id
}

function refuse(code: GuardCode | undefined): void {
  if (code !== undefined) throw new GuardRejection(code)
}
