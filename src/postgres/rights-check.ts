/**
 * May the role do what a cycle and its rows' work need? A right that lacks says nothing of a row, and found
 * out row by row it would cost every deal its attempts.
 */

import { sql, type Kysely } from 'kysely'
import { AppError } from '../errors.js'
import type { Database } from './schema.js'

/** By table, as in migrations/grants/worker.sql, which grants more: to the relay, the intake, the operator. */
const rightsNeeded = {
  'messenger.chat_provision_runs': ['select', 'insert', 'update'],
  'messenger.deal_chat_provisions': ['select', 'update'],
  'messenger.deal_chat_provision_members': ['select'],
  'messenger.chat_provision_attempts': ['select', 'insert', 'delete'],
  'messenger.outbox_events': ['insert'],
  'messenger.chats': ['select', 'insert'],
  'messenger.participants': ['select', 'insert', 'update'],
  'messenger.chat_events': ['select', 'insert'],
} as const

/** @throws AppError NOT_PERMITTED, which names what lacks and the file that grants it */
export async function checkRowRights(db: Kysely<Database>): Promise<void> {
  const needed = Object.entries(rightsNeeded).flatMap(([table, rights]) =>
    rights.map((right) => ({ table, right })),
  )
  // Rights on columns do as well, where there are such. What is not there has no rights, and is another check's to tell.
  const { rows } = await sql<{ right: string; table: string }>`
    select "right", "table"
    from unnest(
      ${needed.map(({ right }) => right)}::text[], ${needed.map(({ table }) => table)}::text[]
    ) as needed ("right", "table")
    where case "right"
      when 'delete' then has_table_privilege(to_regclass("table")::oid, "right")
      else has_any_column_privilege(to_regclass("table")::oid, "right")
    end = false
  `.execute(db)
  if (rows.length === 0) return
  throw new AppError(
    'NOT_PERMITTED',
    `The role that DATABASE_URL names lacks ${rows.map(({ right, table }) => `${right} on ${table}`).join(', ')}. ` +
      'As the owner of the schema run migrations/grants/worker.sql.',
  )
}
