/**
 * Do the messenger's own tables have what this service reads and writes? They may carry more: a column
 * that must be filled and isn't by us would make every row fail, and a unique index that lacks too.
 */

import { sql, type Transaction } from 'kysely'
import { checkReferenceTables as requireTables } from '../../postgres/schema-check.js'
import type { Database } from '../../postgres/schema.js'
import { failed, worstOf, type Verdict } from '../finding.js'

/** What the adapter src/provisioning/reference-chats.ts names. */
const layout = {
  chats: ['id', 'kind', 'status', 'deal_id', 'title', 'project_id', 'deal_tenant_id'],
  participants: ['id', 'chat_id', 'user_id', 'role', 'left_at'],
  chat_events: ['id', 'chat_id', 'type', 'actor', 'correlation_id'],
} as const

/** The rules that hold whoever writes; each is also what an `on conflict` needs. */
const uniques = [
  { table: 'chats', columns: ['deal_id'], partly: false, rule: 'one chat per deal' },
  {
    table: 'participants',
    columns: ['chat_id', 'user_id'],
    partly: false,
    rule: 'one participant per chat and user',
  },
  {
    table: 'chat_events',
    columns: ['chat_id'],
    partly: true,
    rule: 'one DealChatProvisioned per chat',
  },
] as const

export async function checkReferenceTables(trx: Transaction<Database>): Promise<Verdict> {
  await requireTables(trx)
  const troubles = [...(await columnTroubles(trx)), ...(await uniqueTroubles(trx))]
  return worstOf(troubles, 'chats, participants and chat_events as they are needed')
}

async function columnTroubles(trx: Transaction<Database>): Promise<Verdict[]> {
  const { rows } = await sql<{ table: keyof typeof layout; name: string; forced: boolean }>`
    select c.relname as table, a.attname as name,
      a.attnotnull and not a.atthasdef and a.attidentity = '' as forced
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped
      and c.oid in (select to_regclass('messenger.' || name)
        from unnest(${Object.keys(layout)}::text[]) as name)
  `.execute(trx)
  return (Object.keys(layout) as (keyof typeof layout)[]).flatMap((table) => {
    const ours: readonly string[] = layout[table]
    const theirs = rows.filter((row) => row.table === table)
    const missing = ours.filter((name) => !theirs.some((column) => column.name === name))
    const forced = theirs.filter(({ name, forced }) => forced && !ours.includes(name))
    return [
      ...missing.map((name) =>
        failed(
          `messenger.${table} has no column ${name}`,
          'add it, or write an adapter of src/provisioning/messenger-chats.ts',
        ),
      ),
      ...forced.map(({ name }) =>
        failed(
          `messenger.${table}.${name} must be filled, and this service does not`,
          'give the column a default, or write an adapter of src/provisioning/messenger-chats.ts',
        ),
      ),
    ]
  })
}

async function uniqueTroubles(trx: Transaction<Database>): Promise<Verdict[]> {
  const { rows } = await sql<{ table: string; columns: string[]; condition: string | null }>`
    select c.relname as table, pg_get_expr(i.indpred, i.indrelid) as condition,
      array(select a.attname::text from pg_attribute a
        where a.attrelid = i.indrelid
          and a.attnum = any((i.indkey::int2[])[0:i.indnkeyatts - 1]) order by 1) as columns
    from pg_index i join pg_class c on c.oid = i.indrelid
    -- A deferrable one is checked too late for an "on conflict", which PostgreSQL refuses.
    where i.indisunique and i.indisvalid and i.indimmediate and i.indexprs is null
      and c.oid in (select to_regclass('messenger.' || name)
        from unnest(${Object.keys(layout)}::text[]) as name)
  `.execute(trx)
  return uniques.flatMap(({ table, columns, partly, rule }) => {
    const isThere = rows.some(
      (index) =>
        index.table === table &&
        index.columns.join() === columns.join() &&
        (index.condition === null ||
          (partly && index.condition.includes("'DealChatProvisioned'::"))),
    )
    if (isThere) return []
    const where = partly ? " where type = 'DealChatProvisioned'" : ''
    return [
      failed(
        `messenger.${table} has no unique index for ${rule}`,
        `create unique index concurrently on messenger.${table} (${columns.join(', ')})${where}`,
      ),
    ]
  })
}
