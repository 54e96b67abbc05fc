/** The relay's turn: one publisher at a time, by an advisory lock on a session of its own. */

import type { Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { lockKeys, tryAcquireSessionLock } from '../postgres/session-lock.js'

export interface RelayLockOptions {
  /** Of a session, not of a pooled transaction. */
  readonly connectionString: string
  /** Shown in pg_stat_activity, and to whoever finds the lock taken. */
  readonly applicationName: string
  readonly pollIntervalMs: number
  readonly sendTimeoutMs: number
}

export interface RelayTurn {
  readonly db: Kysely<Database>
  /** Aborted when the session is lost, or the relay is to give up waiting. */
  readonly signal: AbortSignal
  readonly isLost: () => boolean
  release(): Promise<void>
}

/**
 * The longest pause between two statements of a holder in good health is a poll interval, a probe's
 * pause in an outage (10 s), or one send; this is added for a slow machine.
 */
const slackMs = 15_000

/**
 * The server ends the session, and with it the lock, of a holder silent for this long: one that is
 * stopped or cut off. Above twice the send's deadline, so that no send in good health outlives it.
 */
function lockTtlMs(options: RelayLockOptions): number {
  return Math.min(options.pollIntervalMs + 2 * options.sendTimeoutMs + slackMs, longestTtlMs)
}

/** idle_session_timeout ends here, at 24 days; each option alone may be as long. */
const longestTtlMs = 2 ** 31 - 1

/**
 * Of the relay's own statements: whatever they put on record is found anew and done again where it is
 * lost, so none waits for the disk. A server that crashes forgets the marks of its last half second, and
 * these events go out twice, as at any crash between acknowledgement and mark.
 *
 * Its statements are prepared. One that was planned when the table was empty must not read all of it
 * when it is full.
 */
const sessionSettings = { synchronous_commit: 'off', enable_seqscan: 'off' }

/**
 * The turn, or who has it.
 *
 * @param stopping rejects when it aborts before the answer
 */
export async function takeTurn(
  options: RelayLockOptions,
  giveUp: AbortSignal,
  stopping: AbortSignal,
): Promise<RelayTurn | { readonly holder: string }> {
  const lock = await tryAcquireSessionLock(
    {
      connectionString: options.connectionString,
      applicationName: options.applicationName,
      lock: lockKeys.relay,
      ttlMs: lockTtlMs(options),
      settings: sessionSettings,
    },
    stopping,
  )
  if (!lock.held) return { holder: lock.holder }
  return {
    db: lock.db,
    // Made once a turn: Node 20 keeps each composite signal for as long as its sources live.
    signal: AbortSignal.any([giveUp, lock.lost]),
    isLost: () => lock.lost.aborted,
    release: async () => {
      await lock.release()
    },
  }
}
