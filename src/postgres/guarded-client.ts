/**
 * A pg client as kysely sees it, with two guards that pg and its pool lack:
 *
 * - A statement that the server doesn't answer in time ends the connection. pg's own query_timeout
 *   rejects the promise but leaves the statement on the wire, and every later one queues behind it.
 * - A connection that met an infrastructure failure is not handed out again: after a failover it may
 *   lead to a server that is read-only now.
 */

import type { PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { classifyFailure } from './failure-class.js'
import { preparedName } from './own-session.js'

/**
 * Longer than every statement_timeout used here, so that a living server's own verdict comes first;
 * without it a silent address would hold a query for the kernel's quarter of an hour.
 */
const answerTimeoutMs = 25_000

/**
 * @param prepare whether statements may be prepared: only on a session of its own
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
      const name = prepare ? preparedName(text) : undefined
      if (name === undefined) return await client.query(text, parameters)
      return await client.query({ name, text, values: parameters })
    } catch (error) {
      if (error instanceof Error && classifyFailure(error).class === 'infrastructure')
        unfit ??= error
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
  // kysely's type also has the cursor form of query, which is used only where a Cursor class is given.
  return { query, release: () => release(unfit) } as unknown as PostgresPoolClient
}

/** Drops the connection without a good-bye; pending statements fail as "Connection terminated". */
export function dropSocket(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
