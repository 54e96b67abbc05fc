/**
 * Single-runner advisory locks, each on a session of its own.
 *
 * An advisory lock has no time to live, so the session carries one: idle_session_timeout. Between
 * taking and releasing the holder of the run lock sends nothing, so the server itself ends the
 * session of a stopped or vanished holder, and the lock with it.
 *
 * Behind a transaction-pooling proxy a session lock is a trap: it stays on whichever backend served
 * the statement. That is detected before the lock is tried, and refused.
 */

import { sql, type Kysely } from 'kysely'
import { AppError } from '../errors.js'
import { openSession, type Session } from './connect.js'
import type { Database } from './schema.js'

export interface LockKey {
  /** Both are int4: the two-int form of pg_advisory_lock, a key space apart from the bigint form. */
  readonly namespace: number
  readonly key: number
  /** For logs. */
  readonly name: string
}

/**
 * The namespace is the first four bytes of sha-256('chat-provision-retry') as a signed int4: other
 * users of the two-int form count up from 1 or hash short names, so none meets it by accident.
 */
const namespace = -2_011_646_920

export const lockKeys = {
  run: { namespace, key: 1, name: 'run' },
  relay: { namespace, key: 2, name: 'relay' },
} as const satisfies Record<string, LockKey>

export interface SessionLockOptions {
  readonly connectionString: string
  readonly lock: LockKey
  /** Milliseconds without a statement after which the server ends the session. */
  readonly ttlMs: number
  readonly applicationName: string
  /** PostgreSQL's own, by name, for what the holder does on this session. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface HeldLock {
  readonly held: true
  /** Runs on the lock's own session, prepared by name: what it does is done by the holder or not at all. */
  readonly db: Kysely<Database>
  /** Aborted when the session is lost, and the lock with it. */
  readonly lost: AbortSignal
  /**
   * Unlocks and ends the session; true if the server confirmed that the lock was held until now.
   * Never throws: a session that can't be asked has lost its lock, or loses it by ending.
   */
  release(): Promise<boolean>
}

export interface BusyLock {
  readonly held: false
  /** Who holds the key, as pg_stat_activity shows it; a foreign holder is reported, never ended. */
  readonly holder: string
}

/**
 * Tries the lock without waiting.
 *
 * @param giveUp rejects when it aborts before the answer; a lock that is held stays
 * @throws AppError POOLER_DETECTED where the connection is not a session of its own.
 */
export async function tryAcquireSessionLock(
  options: SessionLockOptions,
  giveUp?: AbortSignal,
): Promise<HeldLock | BusyLock> {
  const session = await openSession(options.connectionString, options.applicationName, giveUp)
  try {
    await refusePooler(session)
    session.prepareStatements()
    for (const [name, value] of settingsOf(options)) {
      await sql`select set_config(${name}, ${value}, false)`.execute(session.db)
    }
    const { namespace, key } = options.lock
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(${namespace}::int, ${key}::int) as locked
    `.execute(session.db)
    if (rows[0]?.locked === true) {
      session.keep()
      return {
        held: true,
        db: session.db,
        lost: session.lost,
        release: () => release(session, options.lock),
      }
    }
    const holder = await findLockHolder(session.db, options.lock)
    await session.end()
    return { held: false, holder: holder ?? 'a session that has let go since' }
  } catch (error) {
    await session.end()
    throw error
  }
}

/**
 * Asked once at the start, before any lock: do two sessions have two backends? A proxy that passes the
 * backend's pid on, and so looks like PostgreSQL to one session, shows itself by sharing it.
 *
 * @param giveUp rejects when it aborts before the answer
 * @throws AppError POOLER_DETECTED
 */
export async function refuseSharedBackend(
  connectionString: string,
  applicationName: string,
  giveUp?: AbortSignal,
): Promise<void> {
  const first = await openSession(connectionString, applicationName, giveUp)
  try {
    const second = await openSession(connectionString, applicationName, giveUp)
    try {
      await refusePooler(first)
      await refusePooler(second)
      if ((await backendPid(first.db)) === (await backendPid(second.db))) throw poolerDetected()
    } finally {
      await second.end()
    }
  } finally {
    await first.end()
  }
}

function settingsOf({ ttlMs, settings }: SessionLockOptions): [name: string, value: string][] {
  return Object.entries({ ...settings, idle_session_timeout: String(ttlMs) })
}

async function release(session: Session, lock: LockKey): Promise<boolean> {
  try {
    if (session.lost.aborted) return false
    const { rows } = await sql<{ unlocked: boolean }>`
      select pg_advisory_unlock(${lock.namespace}::int, ${lock.key}::int) as unlocked
    `.execute(session.db)
    return rows[0]?.unlocked === true
  } catch {
    return false
  } finally {
    await session.end()
  }
}

/**
 * A pooler shows itself by a backend whose pid is not the one announced at the start of the
 * session, or that changes from one statement to the next.
 *
 * @throws AppError POOLER_DETECTED
 */
async function refusePooler(session: Session): Promise<void> {
  const first = await backendPid(session.db)
  const second = await backendPid(session.db)
  if (first !== session.announcedPid || second !== first) throw poolerDetected()
}

function poolerDetected(): AppError {
  return new AppError(
    'POOLER_DETECTED',
    'The connection for the advisory lock goes through a pooling proxy, where a session lock would ' +
      'stay on a backend that others share. Set LOCK_DATABASE_URL to an address of PostgreSQL itself.',
  )
}

async function backendPid(db: Kysely<Database>): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid
}

/** Who holds the key, for people to read; undefined where nobody does. */
export async function findLockHolder(
  db: Kysely<Database>,
  lock: LockKey,
): Promise<string | undefined> {
  // Another database of the cluster may use the same key, hence the database in the predicate.
  const { rows } = await sql<{ pid: number; application: string | null; since: string | null }>`
    select l.pid, a.application_name as application, a.backend_start::text as since
    from pg_locks l
    left join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.objsubid = 2
      and l.database = (select oid from pg_database where datname = current_database())
      and l.classid = ${lock.namespace}::int::bit(32)::bigint::oid
      and l.objid = ${lock.key}::int::bit(32)::bigint::oid
    limit 1
  `.execute(db)
  const holder = rows[0]
  if (holder === undefined) return undefined
  const since = holder.since === null ? '' : ` since ${holder.since}`
  return `${holder.application ?? 'another role'} (pid ${holder.pid}${since})`
}
