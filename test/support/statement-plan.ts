/** How PostgreSQL runs a statement of the product, by its own count. */

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Database } from '../../src/postgres/schema.js'
import type { TestDatabase } from './test-database.js'

interface PlanNode {
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
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
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, format json) ${statement.sql}`,
    [...statement.parameters],
  )
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
