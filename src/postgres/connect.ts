/** Connections: the pool that row transactions use, and single sessions for advisory locks. */

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { dropSocket, guardClient } from './guarded-client.js'
import { announcedPid, claimSession } from './own-session.js'
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
  /** Short work by key: limits for the session, and prepared statements, where the session is its own. */
  readonly rowWork?: boolean
  /** Called when a connection dies between statements; unowned, the error would end the process. */
  readonly onConnectionLost: (error: Error) => void
}

/**
 * A pool as kysely's Database. No start-up parameters beyond application_name, and no named statements
 * but on sessions of its own, so that it works through a transaction-pooling proxy.
 */
export function createDatabase(options: PoolOptions): Kysely<Database> {
  const own = new WeakSet<pg.ClientBase>()
  const claim = async (client: pg.ClientBase): Promise<void> => {
    if (await within(client, connectTimeoutMs, claimSession(client))) own.add(client)
  }
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.max,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // pg-pool awaits it, though its type says nothing of that.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    ...(options.rowWork === true && { onConnect: claim }),
  })
  pool.on('error', options.onConnectionLost)
  // A client that is checked out emits on itself, not on the pool.
  pool.on('connect', (client) => client.on('error', options.onConnectionLost))
  const guardedPool = {
    connect: async () => {
      const client = await pool.connect()
      return guardClient(client, own.has(client), (error) => client.release(error))
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
    connect: () => Promise.resolve(guardClient(client, false, () => undefined)),
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

async function endWithin(client: pg.Client, ms: number): Promise<void> {
  try {
    await within(client, ms, client.end())
  } catch {
    // The socket is gone, and with it the session: that is all that was asked for.
  }
}

/** Drops the socket where `work` has not ended by then, upon which it does. */
async function within<T>(client: pg.ClientBase, ms: number, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => dropSocket(client), ms)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}
