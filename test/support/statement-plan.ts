/** How PostgreSQL runs a statement of the product, by its own count. */

import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../../src/postgres/schema.js'
import type { TestDatabase } from './test-database.js'

interface PlanNode {
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }]
}

export interface StatementPlan {
  readonly indexes: readonly string[]
  /** Pages of 8 kB that were looked at, whether they were in memory or not. */
  readonly pages: number
}

/** Runs what `run` sends, once as it is and once explained; it must be a single statement. */
export async function explain(
  database: TestDatabase,
  run: (db: Kysely<Database>) => Promise<unknown>,
): Promise<StatementPlan> {
  const sent: { sql: string; parameters: readonly unknown[] }[] = []
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.adminUrl }) }),
    log: ({ query }) => {
      sent.push(query)
    },
  })
  await run(db)
  await db.destroy()
  const [statement] = sent
  if (statement === undefined) throw new Error('no statement was sent')
  const [row] = await database.query<Explained>(
    `explain (analyze, buffers, format json) ${statement.sql}`,
    [...statement.parameters],
  )
  return planOf(row)
}

/**
 * Runs a statement that the session of `db` has prepared, by the plan that it keeps for all values.
 *
 * @param part of its text
 * @param values as SQL
 */
export async function explainPrepared(
  db: Kysely<Database>,
  part: string,
  values: readonly string[],
): Promise<StatementPlan> {
  const { rows: prepared } = await sql<{ name: string; kept: boolean }>`
    select name, generic_plans > 0 as kept from pg_prepared_statements
    where strpos(statement, ${part}) > 0
  `.execute(db)
  const [statement] = prepared
  if (prepared.length !== 1 || statement?.kept !== true) {
    throw new Error(`not one statement with a plan that is kept: ${JSON.stringify(prepared)}`)
  }
  const { rows } = await sql<Explained>`
    explain (analyze, buffers, format json)
    execute ${sql.raw(statement.name)} (${sql.raw(values.join())})
  `.execute(db)
  return planOf(rows[0])
}

function planOf(row: Explained | undefined): StatementPlan {
  const plan = row?.['QUERY PLAN'][0].Plan
  if (plan === undefined) throw new Error('no plan came back')
  return {
    indexes: indexesOf(plan),
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  }
}

function indexesOf(plan: PlanNode): string[] {
  const own = plan['Index Name'] === undefined ? [] : [plan['Index Name']]
  return [...own, ...(plan.Plans ?? []).flatMap(indexesOf)]
}
