/** The demo's PostgreSQL: an embedded server, migrated, with the worker's least-privilege login. */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { sql, type Kysely } from 'kysely'
import { createDatabase } from '../postgres/connect.js'
import { migrateUp } from '../postgres/migrator.js'
import type { Database } from '../postgres/schema.js'
import { installChatFaults } from './chat-faults.js'
import { startEmbeddedPostgres } from './servers/embedded-postgres.js'

/** Two transactions of scenes stay open; looks and an operator's work go beside them. */
const connections = 5

const grantsFile = new URL('../../migrations/grants/worker.sql', import.meta.url)
const workerLogin = 'demo_worker'

export interface DemoDatabase {
  /** Superuser's, for feeding, looking, and playing everybody but the worker. */
  readonly db: Kysely<Database>
  /** The worker's own login, which may do what the grants say. */
  readonly workerUrl: string
  /** Closes the pool, ends the server and removes its data. */
  close(): Promise<void>
}

/** @throws AppError DATABASE_UNAVAILABLE where the server can't be had or does not start. */
export async function startDemoDatabase(): Promise<DemoDatabase> {
  // No flags: it flushes to disk at each commit, as PostgreSQL does where it matters.
  const server = await startEmbeddedPostgres()
  const db = createDatabase({
    connectionString: server.url,
    applicationName: 'chat-provision-retry demo',
    max: connections,
    // The statement that is under way rejects with the same error.
    onConnectionLost: () => undefined,
  })
  const close = async (): Promise<void> => {
    await db.destroy()
    await server.stop()
  }
  try {
    await migrateUp(db, ['service', 'reference'])
    await sql.raw(await readFile(grantsFile, 'utf8')).execute(db)
    await installChatFaults(db)
    const password = randomBytes(16).toString('hex')
    await sql`
      create role ${sql.id(workerLogin)} login password ${sql.lit(password)}
        in role chat_provision_retry
    `.execute(db)
    const url = new URL(server.url)
    url.username = workerLogin
    url.password = password
    return { db, workerUrl: url.href, close }
  } catch (error) {
    await close()
    throw error
  }
}
