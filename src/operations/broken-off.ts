/**
 * How a command over many rows goes on where an earlier try of it ended early. Its audit is the
 * memory: each row's line commits with the row's change, and a closing line says that all was done.
 * Lines after the last closing one belong to a try that was broken off.
 */

import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { appendOverall, type AuditEntry } from './audit-trail.js'

/**
 * The same words a day later are a new command, which nobody means to be the rest of the old one,
 * unless they are of one command for ever: a job that waits for a person is the same after days too.
 */
const goesOnWithin = sql`interval '1 day'`

/** Lines after this one are of the command that is being carried out now. */
export type Begin = string

/** What a mended deal's line has before the filter, or in its place: the names of discrepancies. */
const whatWasFound = '^[A-Z_,]+( of |$)'

const isOf = (entry: AuditEntry): RawBuilder<boolean> => sql<boolean>`(
  a.action = ${entry.action} and a.actor = ${entry.order.by} and a.reason = ${entry.order.reason}
  and nullif(regexp_replace(a.filter, ${whatWasFound}, ''), '') is not distinct from ${entry.filter})`

/**
 * Where the command begins: at the end of the one before, or of the day before. Undefined where it
 * can't be told from another of the same words: a single deal's has no closing line.
 */
export async function beginOf(db: Kysely<Database>, entry: AuditEntry): Promise<Begin | undefined> {
  if (entry.order.isOfOneCommand === true) return '0'
  if (entry.filter === null) return undefined
  const { rows } = await sql<{ id: Begin }>`
    select coalesce(max(a.id), 0)::text as id
    from messenger.chat_provision_audit a
    where ${isOf(entry)}
      and (a.deal_id is null or a.at < clock_timestamp() - ${goesOnWithin})
  `.execute(db)
  return rows[0]?.id ?? '0'
}

/**
 * Under the deal's row's lock: has this command done it, and nothing changed the row since? One that
 * was taken back counts as done: whoever did that doesn't want it done again by the rest.
 */
export async function isDoneBefore(
  trx: Transaction<Database>,
  entry: AuditEntry,
  begin: Begin,
  dealId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from messenger.deal_chat_provisions p
    where p.deal_id = ${dealId}::uuid and exists (
      select from messenger.chat_provision_audit a
      where a.deal_id = p.deal_id and a.id > ${begin}::bigint and ${isOf(entry)}
        and a.at >= p.updated_at
    )
  `.execute(trx)
  return rows.length > 0
}

/** How many deals the command has changed, in all its tries. */
export async function countChanged(
  db: Kysely<Database>,
  entry: AuditEntry,
  begin: Begin,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct a.deal_id)::int as count
    from messenger.chat_provision_audit a
    where a.id > ${begin}::bigint and ${isOf(entry)}
  `.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Says on record that all is done, with the number of deals of all tries; nothing where it is none, or
 * said already, or for a single deal, whose own line says it. Gives the id of the closing line.
 */
export async function close(
  db: Kysely<Database>,
  entry: AuditEntry,
  begin: Begin | undefined,
): Promise<string | undefined> {
  if (begin === undefined || entry.filter === null) return undefined
  const affected = await countChanged(db, entry, begin)
  if (affected === 0) return undefined
  const { rows } = await sql<{ id: string }>`
    select a.id::text as id from messenger.chat_provision_audit a
    where a.id > ${begin}::bigint and a.deal_id is null and ${isOf(entry)}
      and a.affected = ${affected}
    order by a.id desc
    limit 1
  `.execute(db)
  return rows[0]?.id ?? appendOverall(db, entry, affected)
}
