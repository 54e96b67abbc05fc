/** Connections: the pool that row transactions use, and single sessions for advisory locks. */

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { dropSocket, guardClient } from './guarded-client.js'
import type { Database } from './schema.js'

/**
 * Waiting longer than this for a connection means that the database is away or overloaded:
 * better to say so than to queue behind it.
 */
const connectTimeoutMs = 5_000

/** A server that no longer answers can't be told good-bye; after this the socket is dropped. */
const goodbyeMs = 1_000

export interface PoolOptions {
  readonly connectionString: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** Connections at most, ≥ 1. */
  readonly max: number
  /** Called when a connection dies between statements; unowned, the error would end the process. */
  readonly onConnectionLost: (error: Error) => void
}

/**
 * A pool as kysely's Database. No start-up parameters beyond application_name and no named
 * statements, so that it works through a transaction-pooling proxy; limits are set per transaction.
 */
export function createDatabase(options: PoolOptions): Kysely<Database> {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.max,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  pool.on('error', options.onConnectionLost)
  // A client that is checked out emits on itself, not on the pool.
  pool.on('connect', (client) => client.on('error', options.onConnectionLost))
  const guardedPool = {
    connect: async () => {
      const client = await pool.connect()
      return guardClient(client, (error) => client.release(error))
    },
    end: () => pool.end(),
  }
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: guardedPool }) })
}

export interface Session {
  /** Runs every statement on this one session. */
  readonly db: Kysely<Database>
  /** The backend's pid that the server announced when the session began. */
  readonly announcedPid: number | null
  /** Aborted when the socket closes or errs, whoever closed it. */
  readonly lost: AbortSignal
  /** Ends the session; safe to call twice, or when it is lost already. */
  end(): Promise<void>
}

/** Opens one session that is nobody else's, as session-level locks need it. */
export async function openSession(
  connectionString: string,
  applicationName: string,
): Promise<Session> {
  const client = new pg.Client({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  const lost = new AbortController()
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort(new Error('the session has ended')))
  try {
    await client.connect()
  } catch (error) {
    dropSocket(client)
    throw error
  }
  const pool = {
    connect: () => Promise.resolve(guardClient(client, () => undefined)),
    end: () => Promise.resolve(),
  }
  let ended: Promise<void> | undefined
  return {
    db: new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }),
    announcedPid: announcedPid(client),
    lost: lost.signal,
    end: () => (ended ??= lost.signal.aborted ? Promise.resolve() : endWithin(client, goodbyeMs)),
  }
}

/** pg keeps the pid of the server's BackendKeyData message, but its types don't show it. */
function announcedPid(client: pg.Client): number | null {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : null
}

async function endWithin(client: pg.Client, ms: number): Promise<void> {
  const timer = setTimeout(() => dropSocket(client), ms)
  try {
    await client.end()
  } catch {
    // The socket is gone, and with it the session: that is all that was asked for.
  } finally {
    clearTimeout(timer)
  }
}
