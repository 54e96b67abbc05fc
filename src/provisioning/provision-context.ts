/** What provision() works with, the same for the retry job and for the intake. */

import type { MessengerChats } from './messenger-chats.js'
import type { ProvisionContext } from './provision.js'

export function createProvisionContext(
  chats: MessengerChats,
  participantRoles: readonly string[],
): ProvisionContext {
  return {
    chats,
    knownRoles: new Set(participantRoles),
    onChatCreated: [
      // INV-CE-2: the feed tells of the chat in the transaction that made it.
      (trx, fact) => chats.ensureFeedRow(trx, fact.chatId, fact.correlationId),
    ],
    // Writes the feed row itself and raises no fact: right as long as there is no other subscriber.
    creation: chats.creation,
  }
}
