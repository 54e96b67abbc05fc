/** What the operator's actions need, in a job as in a request. */

import type { Kysely } from 'kysely'
import type { Config } from './config/config.js'
import { referenceChatView } from './operations/chat-view.js'
import type { ReconcileContext } from './operations/mend-deal.js'
import type { Database } from './postgres/schema.js'
import { createProvisionContext } from './provisioning/provision-context.js'
import { referenceChats } from './provisioning/reference-chats.js'

export function createOperatorContext(
  db: Kysely<Database>,
  config: Config,
  onEventWritten: () => void,
): ReconcileContext {
  return {
    db,
    topic: config.outbox.topic,
    maxAttempts: config.retry.maxAttempts,
    onEventWritten,
    chatView: referenceChatView,
    eventRetentionMs: config.outbox.retentionMs,
    provisioning: createProvisionContext(referenceChats, config.retry.participantRoles),
  }
}
