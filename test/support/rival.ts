/** Another session on the same database: the deal-created consumer, an operator, or a lock holder. */

import pg from 'pg'
import type { TestDatabase } from './test-database.js'
import { waitFor } from './wait-for.js'

export class Rival {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  /** Opens a transaction in a session of its own and leaves it open. */
  static async begin(url: string): Promise<Rival> {
    const client = new pg.Client({ connectionString: url, application_name: 'rival' })
    // A test may end this session on purpose.
    client.on('error', () => undefined)
    await client.connect()
    await client.query('begin')
    return new Rival(client)
  }

  async query<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]> {
    return (await this.#client.query<T>(text, values)).rows
  }

  /** The provision row's lock, as every writer of the deal's events takes it first. */
  async lockDeal(dealId: string): Promise<void> {
    await this.query(
      'select id from messenger.deal_chat_provisions where deal_id = $1 for update',
      [dealId],
    )
  }

  /** An uncommitted chat of the deal: whoever inserts another waits for this transaction's end. */
  async insertChat(dealId: string, chat: { kind?: string; status?: string } = {}): Promise<void> {
    await this.query(
      `insert into messenger.chats (id, kind, status, deal_id, title)
       values (gen_random_uuid(), $2, $3, $1, 'by the rival')`,
      [dealId, chat.kind ?? 'Deal', chat.status ?? 'Active'],
    )
  }

  /** An uncommitted feed row of the deal's chat: whoever writes one too waits likewise. */
  async insertFeedRow(dealId: string): Promise<void> {
    await this.query(
      `insert into messenger.chat_events (id, chat_id, type, actor)
       select gen_random_uuid(), id, 'DealChatProvisioned', 'System'
       from messenger.chats where deal_id = $1`,
      [dealId],
    )
  }

  /** Finishes the deal as the deal-created consumer does on its good path. */
  async provision(dealId: string): Promise<void> {
    await this.lockDeal(dealId)
    await this.insertChat(dealId)
    await this.query(
      `with chat as (select id from messenger.chats where deal_id = $1),
       feed as (
         insert into messenger.chat_events (id, chat_id, type, actor)
         select gen_random_uuid(), id, 'DealChatProvisioned', 'System' from chat),
       members as (
         insert into messenger.participants (id, chat_id, user_id, role)
         select gen_random_uuid(), chat.id, m.user_id, m.role
         from chat, messenger.deal_chat_provision_members m
         join messenger.deal_chat_provisions p on p.id = m.provision_id where p.deal_id = $1),
       event as (
         insert into messenger.outbox_events
           (id, aggregate_type, aggregate_id, type, topic, contract_version, payload)
         select gen_random_uuid(), 'DealChatProvision', $1, 'DealChatStatusChanged',
           'pin.messenger.deal-chat-status-changed.v1', 1,
           json_build_object('DealId', $1::uuid, 'ChatId', chat.id, 'Status', 'Ready') from chat)
       update messenger.deal_chat_provisions p
       set status = 'Ready', chat_id = chat.id, updated_at = now()
       from chat where p.deal_id = $1`,
      [dealId],
    )
  }

  async commit(): Promise<void> {
    await this.#client.query('commit')
    await this.#client.end()
  }

  async rollback(): Promise<void> {
    await this.#client.query('rollback')
    await this.#client.end()
  }
}

/** Waits until a session of this application waits for a lock that another holds. */
export async function untilBlocked(database: TestDatabase, applicationName: string): Promise<void> {
  await waitFor(`${applicationName} to wait for a lock`, async () => {
    const rows = await database.query(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`,
      [applicationName],
    )
    return rows.length > 0
  })
}
