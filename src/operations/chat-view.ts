/**
 * What operators see of the tables that the messenger owns, as SQL fragments; the reading side of the
 * port in src/provisioning/messenger-chats.ts. Another layout of the tables is another view.
 */

import { sql, type RawBuilder } from 'kysely'

export interface ChatView {
  /** Rows (id, deal_id, kind, status, deal_tenant_id), chats without a deal left out. */
  readonly chats: RawBuilder<unknown>
  /** Rows (chat_id, user_id, left_at). */
  readonly participants: RawBuilder<unknown>
  /** Rows (chat_id), one for each `DealChatProvisioned` in a chat's feed. */
  readonly feedRows: RawBuilder<unknown>
}

/** On the reference layout (migrations/reference). */
export const referenceChatView: ChatView = {
  chats: sql`(
    select id, deal_id, kind, status, deal_tenant_id from messenger.chats where deal_id is not null)`,
  participants: sql`(select chat_id, user_id, left_at from messenger.participants)`,
  feedRows: sql`(select chat_id from messenger.chat_events where type = 'DealChatProvisioned')`,
}
