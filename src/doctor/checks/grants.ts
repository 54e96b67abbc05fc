/**
 * May the role that DATABASE_URL names do all that migrations/grants/worker.sql grants? The file itself
 * is read, so that it and this check can't differ.
 */

import { readFile } from 'node:fs/promises'
import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { failed, ok, warning, type Verdict } from '../finding.js'

const grantsFile = new URL('../../../migrations/grants/worker.sql', import.meta.url)

/** One right on one object, as `grant` writes it. */
export interface Right {
  readonly privilege: string
  /** Of a table: the one column, or null for all of it. */
  readonly column: string | null
  readonly kind: 'schema' | 'table' | 'sequence'
  readonly object: string
}

export async function checkGrants(trx: Transaction<Database>): Promise<Verdict> {
  const rights = readGrants(await readFile(grantsFile, 'utf8'))
  const lacking = await findLacking(trx, rights)
  const { rows } = await sql<{ name: string; superuser: boolean }>`
    select rolname as name, rolsuper as superuser from pg_roles where rolname = current_user
  `.execute(trx)
  const role = rows[0]?.name ?? 'this role'
  if (lacking.length > 0)
    return failed(
      `${role} lacks ${lacking.join(', ')}`,
      `as the owner run migrations/grants/worker.sql, then: grant chat_provision_retry to ${role}`,
    )
  if (rows[0]?.superuser === true)
    return warning(
      `${role} is a superuser: it may do far more than the service needs`,
      'let DATABASE_URL name a login role that is a member of chat_provision_retry',
    )
  return ok(`${role} may do all that the service does`)
}

/**
 * The rights that a file of `grant` statements gives.
 *
 * @throws Error for a statement that it does not know how to read
 */
export function readGrants(text: string): Right[] {
  const statements = text
    .replace(/--.*$/gm, '')
    .replace(/do \$\$[\s\S]*?\$\$;/g, '')
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
    .filter((statement) => statement !== '')
  return statements.flatMap((statement) => {
    const [, privileges, kind = 'table', objects] =
      /^grant (.+) on (?:(schema|table|sequence) )?([\w."]+(?:, [\w."]+)*) to \w+$/.exec(
        statement,
      ) ?? []
    if (privileges === undefined || objects === undefined)
      throw new Error(`worker.sql has a statement that doctor can't read: ${statement}`)
    return objects.split(', ').flatMap((object) =>
      [...privileges.matchAll(/(\w+)(?: \(([^)]+)\))?/g)].flatMap(([, privilege = '', columns]) =>
        (columns?.split(/, ?/) ?? [null]).map((column) => ({
          privilege,
          column,
          kind: kind as Right['kind'],
          object,
        })),
      ),
    )
  })
}

/**
 * What does not exist is left out: the schema's check tells of it. Where a schema may not be used its
 * tables can't even be named, so that is the one thing to tell.
 */
async function findLacking(
  trx: Transaction<Database>,
  rights: readonly Right[],
): Promise<string[]> {
  const lacking: Right[] = []
  const order = ['schema', 'table', 'sequence']
  for (const right of [...rights].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))) {
    const isHidden = lacking.some(
      ({ kind, object }) => kind === 'schema' && right.object.startsWith(`${object}.`),
    )
    if (!isHidden && (await has(trx, right)) === false) lacking.push(right)
  }
  return lacking.map(
    ({ privilege, column, object }) =>
      `${privilege} on ${object}${column === null ? '' : ` (${column})`}`,
  )
}

/** Null where the object, or its column, does not exist. */
async function has(
  trx: Transaction<Database>,
  { privilege, column, kind, object }: Right,
): Promise<boolean | null> {
  const statements: Record<Right['kind'], RawBuilder<{ has: boolean | null }>> = {
    schema: sql`select has_schema_privilege(oid, ${privilege}) as has
      from pg_namespace where nspname = ${object}`,
    sequence: sql`select has_sequence_privilege(to_regclass(${object})::oid, ${privilege}) as has`,
    table:
      column === null
        ? sql`select has_table_privilege(to_regclass(${object})::oid, ${privilege}) as has`
        : sql`select has_column_privilege(attrelid, attnum, ${privilege}) as has
            from pg_attribute where attrelid = to_regclass(${object}) and attname = ${column}`,
  }
  const { rows } = await statements[kind].execute(trx)
  return rows[0]?.has ?? null
}
