/**
 * A database of its own for each test file: a copy of the migrated template, made in milliseconds.
 *
 * After the file, sessions still open on it fail the file: what is not closed here would not be
 * closed in production either. After a failed test the database stays, and its address is printed.
 */

import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, inject, onTestFailed } from 'vitest'
import type { Database } from '../../src/postgres/schema.js'
import {
  adminApplicationName,
  connectAdmin,
  databaseUrl,
  workerLogin,
} from './database-template.js'
import { waitFor } from './wait-for.js'

export interface TestDatabase {
  readonly name: string
  /** Superuser. */
  readonly adminUrl: string
  /** The least-privilege login that the worker has; give this to what is tested. */
  readonly url: string
  /** Superuser, for arranging and looking. */
  readonly admin: Kysely<Database>
  /** Rows of one statement, run as superuser. */
  readonly query: <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>
  /** Closes `admin` and fails where anybody else still has a session open. */
  readonly close: () => Promise<void>
  readonly drop: () => Promise<void>
}

export interface TestDatabaseOptions {
  /** An empty database instead of a migrated one, for tests of the migrations themselves. */
  readonly empty?: boolean
}

export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = inject('postgres')
  const name = `test_${randomBytes(6).toString('hex')}`
  const template = options.empty === true ? 'template0' : server.template
  await once(server.adminUrl, `create database ${name} template ${template}`)
  const adminUrl = databaseUrl(server.adminUrl, name)
  const workerUrl = new URL(adminUrl)
  workerUrl.username = workerLogin.name
  workerUrl.password = workerLogin.password
  const admin = connectAdmin(adminUrl)
  return {
    name,
    adminUrl,
    url: workerUrl.href,
    admin,
    query: (text, values) => once(adminUrl, text, values),
    close: async () => {
      await admin.destroy()
      await refuseLeaks(server.adminUrl, name)
    },
    drop: async () => {
      await once(server.adminUrl, `drop database if exists ${name} with (force)`)
    },
  }
}

/**
 * Registers the hooks for one database for the whole file; call it at the file's top level.
 * The returned function gives the database inside tests and hooks.
 */
export function useTestDatabase(options: TestDatabaseOptions = {}): () => TestDatabase {
  let database: TestDatabase | undefined
  let failed = false
  const get = (): TestDatabase => {
    if (database === undefined) throw new Error('the test database exists only inside tests')
    return database
  }
  beforeAll(async () => {
    database = await createTestDatabase(options)
  })
  beforeEach(() => {
    onTestFailed(() => {
      failed = true
    })
  })
  afterAll(async () => {
    if (database === undefined) return
    if (failed)
      process.stderr.write(`\nA test failed; its database is kept: ${database.adminUrl}\n`)
    await database.close()
    if (!failed) await database.drop()
  })
  return get
}

interface OpenSession {
  readonly application_name: string
  readonly usename: string
  readonly state: string
  readonly query: string
}

/** A session that its client has closed is gone from the view only a moment later. */
const closingTimeMs = 3_000

async function refuseLeaks(adminUrl: string, database: string): Promise<void> {
  let open: OpenSession[] = []
  try {
    await waitFor(
      'all sessions to be closed',
      async () => {
        open = await once<OpenSession>(
          adminUrl,
          `select application_name, usename, coalesce(state, '') as state, query
             from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
          [database],
        )
        return open.length === 0
      },
      { timeoutMs: closingTimeMs },
    )
  } catch (cause) {
    const lines = open.map(
      (session) =>
        `  ${session.application_name || '(no application_name)'} as ${session.usename}, ` +
        `${session.state}: ${session.query}`,
    )
    throw new Error(`sessions were left open on ${database}:\n${lines.join('\n')}`, { cause })
  }
}

async function once<T extends pg.QueryResultRow>(
  url: string,
  text: string,
  values?: unknown[],
): Promise<T[]> {
  const client = new pg.Client({ connectionString: url, application_name: adminApplicationName })
  await client.connect()
  try {
    return (await client.query<T>(text, values)).rows
  } finally {
    await client.end()
  }
}
