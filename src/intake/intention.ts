/** Puts down the intention to make a deal's chat, once per deal, and the members it is for. */

import { sql, type Transaction } from 'kysely'
import { uuidv7 } from '../uuid.js'
import type { Database } from '../postgres/schema.js'
import type { DealCreated } from './deal-created.js'

export interface Intention {
  readonly id: string
  /** The row's version, by which its writer locks and reads it back. */
  readonly xmin: string
  /** timestamptz as text, by the database's clock. */
  readonly at: string
}

/**
 * Undefined where the deal has an intention already, whoever wrote it and whatever became of it.
 * Waits for another transaction that is about to write it: there is one per deal (ux_dcp_deal).
 * Whoever has inserted the row holds its lock, as no one else can see it before the commit.
 */
export async function insertIntention(
  trx: Transaction<Database>,
  deal: DealCreated,
): Promise<Intention | undefined> {
  const { rows } = await sql<Intention>`
    insert into messenger.deal_chat_provisions (id, deal_id, title, project_id, deal_tenant_id)
    values (${uuidv7()}, ${deal.dealId}, ${deal.title}, ${deal.projectId}, ${deal.dealTenantId})
    on conflict (deal_id) do nothing
    returning id, xmin::text as xmin, clock_timestamp()::text as at
  `.execute(trx)
  const intention = rows[0]
  if (intention === undefined) return undefined
  // Two arrays: one parameter per value would end at a statement's 65,535.
  await sql`
    insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
    select ${intention.id}::uuid, user_id, role
    from unnest(${deal.members.map(({ userId }) => userId)}::uuid[],
      ${deal.members.map(({ role }) => role)}::text[]) as member (user_id, role)
  `.execute(trx)
  return intention
}
