/** Connections: the pool that row transactions use, and single sessions for advisory locks. */

import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { dropSocket, guardClient } from './guarded-client.js'
import { announcedPid, claimSession } from './own-session.js'
import type { Database } from './schema.js'
import { createWarmClients } from './warm-clients.js'
import { pause } from '../timers.js'

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
  /** No limit for a statement: a migration builds its index for as long as that takes. */
  readonly longStatements?: boolean
  /** Called when a connection dies between statements; unowned, the error would end the process. */
  readonly onConnectionLost: (error: Error) => void
}

/**
 * A pool as kysely's Database. No start-up parameters beyond application_name, and no named statements
 * but on sessions of its own, so that it works through a transaction-pooling proxy.
 */
export function createDatabase(options: PoolOptions): Kysely<Database> {
  const own = new WeakSet<pg.ClientBase>()
  const open = new Set<pg.ClientBase>()
  // The pool tells of a client only once it is connected.
  const Client = class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      open.add(this)
      this.once('end', () => open.delete(this))
    }
  }
  const claim = async (client: pg.ClientBase): Promise<void> => {
    if (await within(client, connectTimeoutMs, claimSession(client))) own.add(client)
  }
  const pool = new pg.Pool({
    Client,
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
  const lost = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) =>
    client.on('error', (error) => {
      lost.add(client)
      options.onConnectionLost(error)
    }),
  )
  const clients = createWarmClients(pool, (client) => lost.has(client))
  const guarded = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  const guardOf = (client: pg.PoolClient): PostgresPoolClient => {
    const known = guarded.get(client)
    if (known !== undefined) return known
    const giveBack = (error: Error | undefined): void => clients.giveBack(client, error)
    const limit = options.longStatements === true ? Infinity : undefined
    const made = guardClient(client, own.has(client), giveBack, limit)
    guarded.set(client, made)
    return made
  }
  const guardedPool = {
    connect: async () => guardOf(await clients.take()),
    end: () => endPool(pool, open),
  }
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: guardedPool }) })
}

/** A statement or a connect that is no longer waited for may be under way: its socket is dropped. */
async function endPool(pool: pg.Pool, open: ReadonlySet<pg.ClientBase>): Promise<void> {
  const ended = new AbortController()
  const late = pause(goodbyeMs, ended.signal).then(() => open.forEach(dropSocket))
  await Promise.race([pool.end(), late])
  ended.abort()
}

export interface Session {
  /** Runs every statement on this one session. */
  readonly db: Kysely<Database>
  /** The backend's pid that the server announced when the session began. */
  readonly announcedPid: number | null
  /** Aborted when the socket closes or errs, whoever closed it. */
  readonly lost: AbortSignal
  /** From now on statements are prepared by name: for one that is known to be this client's own. */
  prepareStatements(): void
  /** Ends the session; safe to call twice, or when it is lost already. */
  end(): Promise<void>
  /** From now on the signal that it was opened with no longer ends it. */
  keep(): void
}

/**
 * Opens one session that is nobody else's, as session-level locks need it.
 *
 * @param giveUp drops the session when it aborts, and what is under way on it rejects
 */
export async function openSession(
  connectionString: string,
  applicationName: string,
  giveUp?: AbortSignal,
): Promise<Session> {
  giveUp?.throwIfAborted()
  const client = new pg.Client({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  const lost = new AbortController()
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort(new Error('the session has ended')))
  const drop = (): void => dropSocket(client)
  const keep = (): void => giveUp?.removeEventListener('abort', drop)
  giveUp?.addEventListener('abort', drop)
  client.on('end', keep)
  try {
    await client.connect()
  } catch (error) {
    keep()
    drop()
    throw error
  }
  let prepare = false
  const pool = {
    connect: () => Promise.resolve(guardClient(client, prepare, () => undefined)),
    end: () => Promise.resolve(),
  }
  let ended: Promise<void> | undefined
  return {
    db: new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }),
    announcedPid: announcedPid(client),
    lost: lost.signal,
    prepareStatements: () => {
      prepare = true
    },
    end: () => (ended ??= lost.signal.aborted ? Promise.resolve() : endWithin(client, goodbyeMs)),
    keep,
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
