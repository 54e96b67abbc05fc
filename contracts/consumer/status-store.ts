/**
 * Where the last status of each deal is kept. The one rule: store an event only if its sequence is
 * above the stored one, in one atomic step. In PostgreSQL, with a column beside Deal.ChatStatus:
 *
 *   alter table deals add column chat_status_sequence bigint not null default 0;
 *
 *   update deals
 *   set chat_status = $status, chat_id = $chatId, chat_status_sequence = $sequence
 *   where id = $dealId and chat_status_sequence < $sequence;
 *
 * Zero rows changed means an old event, a redelivery, or a deal that is not (yet) there.
 */

import type { DealChatStatusChanged } from './read-message.js'

export interface StatusStore {
  /** True when the event was newer than what was stored, and now is what is stored. */
  storeIfNewer(event: DealChatStatusChanged): Promise<boolean>
}

/** For tests, and as the shortest description of the rule. */
export class MemoryStatusStore implements StatusStore {
  readonly #deals = new Map<string, DealChatStatusChanged>()

  storeIfNewer(event: DealChatStatusChanged): Promise<boolean> {
    const stored = this.#deals.get(event.dealId)
    const newer = stored === undefined || event.sequence > stored.sequence
    if (newer) this.#deals.set(event.dealId, event)
    return Promise.resolve(newer)
  }

  get(dealId: string): DealChatStatusChanged | undefined {
    return this.#deals.get(dealId)
  }
}
