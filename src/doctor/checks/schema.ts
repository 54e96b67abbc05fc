/** Are the service's own tables there, as new as this version, with all that its rules rest on? */

import { sql, type Transaction } from 'kysely'
import { readMigrations } from '../../postgres/migrator.js'
import { checkServiceSchema } from '../../postgres/schema-check.js'
import type { Database } from '../../postgres/schema.js'
import { failed, ok, type Verdict } from '../finding.js'

export async function checkSchema(trx: Transaction<Database>): Promise<Verdict> {
  await checkServiceSchema(trx)
  const migrations = await readMigrations('service')
  const { indexes, constraints } = namedIn(migrations.map((migration) => migration.sql).join('\n'))
  // An index that a broken-off rebuild left behind, and a check added as "not valid", guard nothing.
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${indexes}::text[]) as name
    where not exists (
      select from pg_index i join pg_class c on c.oid = i.indexrelid
      join pg_namespace n on n.oid = c.relnamespace
      where c.relname = name and n.nspname in ('messenger', 'chokaq') and i.indisvalid)
    union all
    select name from unnest(${constraints}::text[]) as name
    where not exists (
      select from pg_constraint c join pg_namespace n on n.oid = c.connamespace
      where c.conname = name and n.nspname in ('messenger', 'chokaq') and c.convalidated)
  `.execute(trx)
  if (rows.length === 0) return ok('up to date, its indexes and constraints valid')
  const names = rows.map(({ name }) => name).join(', ')
  return failed(
    `missing or not valid: ${names}`,
    'make them again as the files in migrations/ have them (reindex, validate constraint)',
  )
}

/**
 * The names that the migrations end up with. Lost, a unique index lets a deal have two provisions, any
 * other one makes each cycle or poll read everything.
 */
export function namedIn(migrations: string): { indexes: string[]; constraints: string[] } {
  const text = migrations.replace(/--.*$/gm, '')
  const names = (pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map(([, name]) => name ?? '')
  const dropped = new Set([
    ...names(/\bdrop index (?:concurrently )?(?:if exists )?(?:\w+\.)?(\w+)/g),
    ...names(/\bdrop constraint (?:if exists )?(\w+)/g),
  ])
  const kept = (name: string): boolean => !dropped.has(name)
  return {
    indexes: names(/\bcreate (?:unique )?index (?:concurrently )?(?:if not exists )?(\w+)/g).filter(
      kept,
    ),
    constraints: names(/\bconstraint (\w+)\s+(?:primary key|unique|check|foreign key)\b/g).filter(
      kept,
    ),
  }
}
