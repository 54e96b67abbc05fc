/**
 * Makes the migrated template that each test file's database is a copy of, and the login role
 * that the tests work as: a member of the worker's role, with none of its own rights.
 */

import { readFile } from 'node:fs/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { migrateUp } from '../../src/postgres/migrator.js'
import type { Database } from '../../src/postgres/schema.js'

/** What a test file needs to know about the run's PostgreSQL; provided by the global setup. */
export interface TestServer {
  /** Superuser, database postgres. */
  readonly adminUrl: string
  readonly port: number
  readonly template: string
}

export const workerLogin = { name: 'test_worker', password: 'test_worker' }

const grantsFile = new URL('../../migrations/grants/worker.sql', import.meta.url)

export async function makeTemplate(adminUrl: string): Promise<string> {
  const template = 'template_migrated'
  await withAdmin(adminUrl, (db) => sql`create database ${sql.id(template)}`.execute(db))
  await withAdmin(databaseUrl(adminUrl, template), async (db) => {
    await migrateUp(db, ['service', 'reference'])
    await sql.raw(await readFile(grantsFile, 'utf8')).execute(db)
  })
  await withAdmin(adminUrl, async (db) => {
    await sql`
      create role ${sql.id(workerLogin.name)} login password ${sql.lit(workerLogin.password)}
        in role chat_provision_retry
    `.execute(db)
    // A connection to the template would stop its being copied.
    await sql`alter database ${sql.id(template)} allow_connections false`.execute(db)
  })
  return template
}

/** The same server and user, another database. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

async function withAdmin<T>(url: string, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const db = connectAdmin(url)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

export const adminApplicationName = 'test-admin'

/** A superuser's pool for arranging and looking; what is tested connects by itself. */
export function connectAdmin(url: string): Kysely<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    application_name: adminApplicationName,
  })
  // Tests of outages end this pool's sessions too, idle or not; the next query opens another.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}
