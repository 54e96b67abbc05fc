/** Does a fresh session answer, and can it write? Asked where a session was lost. */

import { sql } from 'kysely'
import { openSession } from './connect.js'

/**
 * False while the server is away, shutting down, or a standby after a failover. A fresh session, not
 * one of the pool's: those may all lead to what is gone.
 */
export async function probeDatabase(
  connectionString: string,
  applicationName: string,
): Promise<boolean> {
  try {
    const session = await openSession(connectionString, applicationName)
    try {
      const { rows } = await sql<{ writable: boolean }>`
        select not pg_is_in_recovery()
          and not current_setting('transaction_read_only')::boolean as writable
      `.execute(session.db)
      return rows[0]?.writable === true
    } finally {
      await session.end()
    }
  } catch {
    return false
  }
}
