/**
 * A pg client as kysely sees it, with two guards that pg and its pool lack:
 *
 * - A statement that the server doesn't answer in time ends the connection. pg's own query_timeout
 *   rejects the promise but leaves the statement on the wire, and every later one queues behind it.
 * - A connection that met an infrastructure failure is not handed out again: after a failover it may
 *   lead to a server that is read-only now.
 */

import type { PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { classifyFailure } from './failure-class.js'
import { preparedName } from './own-session.js'

/**
 * Longer than every statement_timeout used here, so that a living server's own verdict comes first;
 * without it a silent address would hold a query for the kernel's quarter of an hour.
 */
const answerTimeoutMs = 25_000

/**
 * One for each client of a pool: kysely keeps by it what it knows of a connection.
 *
 * @param prepare whether statements may be prepared: only on a session of its own
 * @param release called with an error where the client must not be used again
 * @param timeoutMs how long a statement may take; Infinity where only the kernel's keepalive ends it
 */
export function guardClient(
  client: pg.ClientBase,
  prepare: boolean,
  release: (error: Error | undefined) => void,
  timeoutMs = answerTimeoutMs,
): PostgresPoolClient {
  let unfit: Error | undefined
  const query = async (text: string, parameters: unknown[]): Promise<pg.QueryResult> => {
    const giveUp = (): void => {
      unfit = new Error('Connection terminated: the server gave no answer in time')
      dropSocket(client)
    }
    const timer = Number.isFinite(timeoutMs) ? setTimeout(giveUp, timeoutMs) : undefined
    try {
      return await send(client, prepare ? preparedName(text) : undefined, text, parameters)
    } catch (error) {
      if (error instanceof Error && classifyFailure(error).class === 'infrastructure')
        unfit ??= error
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
  // kysely discards a connection whose rollback was refused, for it may be in a transaction still.
  const giveBack = (discarded = false): void =>
    release(discarded ? (unfit ?? new Error('The transaction on it could not be ended')) : unfit)
  // kysely's type also has the cursor form of query, which is used only where a Cursor class is given.
  return { query, release: giveBack } as unknown as PostgresPoolClient
}

/**
 * As `client.query({ name, text, values })`, which copies that object property by property first: for a
 * short statement that takes the process a twentieth of all the time that it spends on it.
 */
function send(
  client: pg.ClientBase,
  name: string | undefined,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult> {
  const query: pg.Query & { name?: string } = new pg.Query(text, values)
  if (name !== undefined) query.name = name
  return new Promise((resolve, reject) => {
    const answered = (error: Error | null, result: pg.QueryResult): void => {
      if (error === null) resolve(result)
      else reject(error)
    }
    client.query(Object.assign(query, { callback: answered }))
  })
}

/** Drops the connection without a good-bye; pending statements fail as "Connection terminated". */
export function dropSocket(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
