/**
 * Do the messenger's own tables have what each row's work names? A column or a unique index that lacks says
 * nothing of a row, and found out row by row it would cost every deal its attempts.
 */

import { sql, type Kysely } from 'kysely'
import { AppError } from '../errors.js'
import type { Database } from './schema.js'

/** What the adapter src/provisioning/reference-chats.ts names. */
const layout = {
  chats: ['id', 'kind', 'status', 'deal_id', 'title', 'project_id', 'deal_tenant_id'],
  participants: ['id', 'chat_id', 'user_id', 'role', 'left_at'],
  chat_events: ['id', 'chat_id', 'type', 'actor', 'correlation_id'],
} as const

type ReferenceTable = keyof typeof layout

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

export interface LayoutTrouble {
  /** One clause. */
  readonly found: string
  /** What to do, as the owner of the tables. */
  readonly mend: string
}

/** @throws AppError REFERENCE_TABLE_UNFIT, which names each trouble and what mends it */
export async function checkReferenceLayout(db: Kysely<Database>): Promise<void> {
  const troubles = [...(await missingColumns(db)), ...(await missingUniques(db))]
  if (troubles.length === 0) return
  const texts = troubles.map(({ found, mend }) => `${found}: ${mend}`)
  throw new AppError('REFERENCE_TABLE_UNFIT', `${texts.join('; ')}.`)
}

export async function missingColumns(db: Kysely<Database>): Promise<LayoutTrouble[]> {
  const needed = tables.flatMap((table) => layout[table].map((name) => ({ table, name })))
  const { rows } = await sql<{ table: ReferenceTable; name: string }>`
    select "table", name
    from unnest(${needed.map(({ table }) => table)}::text[], ${needed.map(({ name }) => name)}::text[])
      as needed ("table", name)
    where to_regclass('messenger.' || "table") is not null and not exists (
      select from pg_attribute a
      where a.attrelid = to_regclass('messenger.' || "table") and a.attname = name
        and a.attnum > 0 and not a.attisdropped)
  `.execute(db)
  return rows.map(({ table, name }) => ({
    found: `messenger.${table} has no column ${name}`,
    mend: 'add it, or write an adapter of src/provisioning/messenger-chats.ts',
  }))
}

/** Those that nobody fills but a trigger, if there is one: an insert of this service doesn't name them. */
export async function forcedColumns(db: Kysely<Database>): Promise<LayoutTrouble[]> {
  const { rows } = await sql<{ table: ReferenceTable; name: string }>`
    select c.relname as "table", a.attname as name
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped
      and a.attnotnull and not a.atthasdef and a.attidentity = ''
      and c.oid in (${referenceOids()})
  `.execute(db)
  return rows
    .filter(({ table, name }) => !(layout[table] as readonly string[]).includes(name))
    .map(({ table, name }) => ({
      found: `messenger.${table}.${name} must be filled, and this service does not`,
      mend: 'give the column a default, or write an adapter of src/provisioning/messenger-chats.ts',
    }))
}

export async function missingUniques(db: Kysely<Database>): Promise<LayoutTrouble[]> {
  // Of a view PostgreSQL asks the table below it, which can't be told from here.
  const { rows } = await sql<{ table: string; columns: string[] | null; condition: string | null }>`
    select c.relname as "table", pg_get_expr(i.indpred, i.indrelid) as condition,
      case when i.indexrelid is not null then array(select a.attname::text from pg_attribute a
        where a.attrelid = i.indrelid
          and a.attnum = any((i.indkey::int2[])[0:i.indnkeyatts - 1]) order by 1) end as columns
    from pg_class c left join pg_index i on i.indrelid = c.oid
      -- A deferrable one is checked too late for an "on conflict", which PostgreSQL refuses.
      and i.indisunique and i.indisvalid and i.indimmediate and i.indexprs is null
    where c.relkind in ('r', 'p') and c.oid in (${referenceOids()})
  `.execute(db)
  return uniques.flatMap(({ table, columns, partly, rule }) => {
    const indexes = rows.filter((row) => row.table === table)
    const isThere = indexes.some(
      (index) =>
        index.columns?.join() === columns.join() &&
        (index.condition === null ||
          (partly && index.condition.includes("'DealChatProvisioned'::"))),
    )
    if (isThere || indexes.length === 0) return []
    const where = partly ? " where type = 'DealChatProvisioned'" : ''
    return [
      {
        found: `messenger.${table} has no unique index for ${rule}`,
        mend: `create unique index concurrently on messenger.${table} (${columns.join(', ')})${where}`,
      },
    ]
  })
}

const tables = Object.keys(layout) as ReferenceTable[]

function referenceOids() {
  return sql`select to_regclass('messenger.' || name) from unnest(${tables}::text[]) as name`
}
