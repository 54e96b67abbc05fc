/** The rows that a command means: counted, read batch by batch in id order, locked one by one. */

import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { Database } from '../postgres/schema.js'
import type { ProvisionRow, Targets } from './provision-command.js'
import { matches } from './provision-filter.js'

/** A read of milliseconds; what changes meanwhile is seen again under each row's lock. */
const batchRows = 500

/**
 * The predicate over p of what is meant.
 *
 * @param eligible which rows a filter may choose; a deal given by its id is chosen anyway
 */
export function isMeant(
  targets: Targets,
  eligible: RawBuilder<boolean>,
  maxAttempts: number,
): RawBuilder<boolean> {
  return 'filter' in targets
    ? sql<boolean>`(${matches(targets.filter, maxAttempts)} and ${eligible})`
    : sql<boolean>`p.deal_id = any (${targets.dealIds}::uuid[])`
}

export async function countRows(
  db: Kysely<Database>,
  predicate: RawBuilder<boolean>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from messenger.deal_chat_provisions p where ${predicate}
  `.execute(db)
  return rows[0]?.count ?? 0
}

const rowColumns = sql`p.id, p.deal_id as "dealId", p.status, p.attempts, p.chat_id as "chatId",
  p.xmin::text as xmin`

/** All rows, unlocked, in id order, which only moves forward: so it ends, whatever comes meanwhile. */
export async function* readRows(
  db: Kysely<Database>,
  predicate: RawBuilder<boolean>,
): AsyncGenerator<ProvisionRow> {
  let after: RawBuilder<boolean> = sql<boolean>`true`
  for (;;) {
    const { rows } = await sql<ProvisionRow>`
      select ${rowColumns} from messenger.deal_chat_provisions p
      where ${predicate} and ${after}
      order by p.id
      limit ${batchRows}
    `.execute(db)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchRows) return
    after = sql<boolean>`p.id > ${last.id}::uuid`
  }
}

/**
 * Locks the row as every writer of the deal's events does, waiting for whoever holds it, if its
 * newest version is still meant.
 */
export async function lockRow(
  trx: Transaction<Database>,
  id: string,
  predicate: RawBuilder<boolean>,
): Promise<ProvisionRow | undefined> {
  const { rows } = await sql<ProvisionRow>`
    select ${rowColumns} from messenger.deal_chat_provisions p
    where p.id = ${id}::uuid and ${predicate}
    for no key update of p
  `.execute(trx)
  return rows[0]
}
