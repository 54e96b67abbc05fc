/**
 * What a connection allows that leads to PostgreSQL itself and not to a transaction-pooling proxy:
 * settings that hold for the session, and statements prepared by name.
 *
 * Behind such a proxy both would be left on a backend that others share; there each transaction sets
 * its own limits (row-transaction.ts), and every statement is parsed and planned anew.
 */

import type pg from 'pg'
import { rowLimits } from './row-transaction.js'

/**
 * Asks the backend for its pid, which a pooling proxy doesn't announce to its clients, and where it
 * is the announced one sets the limits of row work for the session.
 *
 * Row work finds rows by key. A plan that was made while a table was small or its statistics were
 * old may read all of it, and a prepared statement keeps its plan: hence no sequential scans. A bitmap is
 * for many rows; for the three of a key, making it costs more than the rows. No plan
 * depends on the values: one made anew for each of the first runs takes longer than their rows.
 *
 * Row work waits for whoever has locked a row and then looks at the row anew, whatever isolation the
 * database's or the role's own settings begin with.
 *
 * @returns whether the session is this client's own
 */
export async function claimSession(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ own: boolean }>(
    `select pg_backend_pid() = $1 as own,
       case when pg_backend_pid() = $1 then array[
         set_config('lock_timeout', $2, false),
         set_config('statement_timeout', $3, false),
         set_config('idle_in_transaction_session_timeout', $4, false),
         set_config('enable_seqscan', 'off', false),
         set_config('enable_bitmapscan', 'off', false),
         set_config('plan_cache_mode', 'force_generic_plan', false),
         set_config('default_transaction_isolation', 'read committed', false)
       ] end as limits`,
    [announcedPid(client), ...Object.values(rowLimits).map(String)],
  )
  return rows[0]?.own === true
}

/** pg keeps the pid of the server's BackendKeyData message, but its types don't show it. */
export function announcedPid(client: pg.ClientBase): number | null {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : null
}

/** Far more than the texts that this service has; a bound all the same, for the server keeps each. */
const namesAtMost = 200

/** Names by the statement's text; the same on every connection, for pg tells two texts apart by it. */
const names = new Map<string, string>()

/** The name under which to prepare a statement; undefined where there are too many already. */
export function preparedName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < namesAtMost) {
    name = `s${names.size + 1}`
    names.set(text, name)
  }
  return name
}
