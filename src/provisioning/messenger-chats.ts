/**
 * The port to the tables that the messenger owns. Another layout of them is another adapter.
 *
 * Every method runs in the row's transaction and is idempotent: a repeat completes what lacks and
 * changes nothing else.
 */

import type { RawBuilder, Transaction } from 'kysely'
import type { Database } from '../postgres/schema.js'
import type { Member } from './guards.js'

export interface DealChat {
  readonly id: string
  readonly kind: string
  readonly status: string
  readonly dealTenantId: string | null
}

export interface NewDealChat {
  readonly id: string
  readonly dealId: string
  readonly title: string
  readonly projectId: string | null
  readonly dealTenantId: string | null
}

export interface MessengerChats {
  /** The chat of a deal, whatever its kind and state, or undefined. */
  findByDeal(trx: Transaction<Database>, dealId: string): Promise<DealChat | undefined>

  /** Makes the chat, Active and of kind Deal; false where the deal has one already (INV-CHAT-2). */
  create(trx: Transaction<Database>, chat: NewDealChat): Promise<boolean>

  /**
   * Adds those of the provision's members who lack and reactivates those who left, role and joined_at
   * kept (INV-PART-1). An active participant is never changed and nobody is removed.
   *
   * @returns the members it has read, one more than a provision may have at the most
   */
  reconcileParticipants(
    trx: Transaction<Database>,
    chatId: string,
    provisionId: string,
  ): Promise<readonly Member[]>

  /** Writes the chat's `DealChatProvisioned` feed row where it lacks (INV-CE-2). */
  ensureFeedRow(trx: Transaction<Database>, chatId: string, correlationId: string): Promise<void>

  /**
   * Optional, for speed: a new chat with its feed row and participants as common table expressions of
   * the one statement in which most rows are done (at-once.ts). They read `fit` (id, deal_id, title,
   * project_id, deal_tenant_id; one row or none) and `listed` (user_id, role), and name the last of
   * themselves `made`, with the column `id`: one row where the chat was made, none, and nothing
   * written, where the deal has a chat already. `made` depends on all the others, so that they are
   * written before the event and the deal's row: every way takes the tables in the same order, or
   * two of them could wait for each other. An adapter without it is worked off step by step.
   *
   * Called once, for all rows: what is another for each row must come from the expressions that are
   * given, from `fit` and `listed`, or from a function of the database.
   */
  readonly creation?: ((made: NewChatIds) => RawBuilder<unknown>) | undefined
}

/** Expressions of type uuid, once cast (`${chatId}::uuid`). */
export interface NewChatIds {
  readonly chatId: RawBuilder<string>
  readonly correlationId: RawBuilder<string>
}
