/**
 * Does LOCK_DATABASE_URL, or DATABASE_URL in its place, give a session of its own, and on the very
 * database that the work is done in? Locks held elsewhere would keep nobody out.
 */

import { sql, type Kysely, type Transaction } from 'kysely'
import type { Config } from '../../config/config.js'
import { openSession } from '../../postgres/connect.js'
import type { Database } from '../../postgres/schema.js'
import { refuseSharedBackend } from '../../postgres/session-lock.js'
import { explainUnavailable } from '../../postgres/unavailable.js'
import { failed, ok, type Verdict } from '../finding.js'

const applicationName = 'chat-provision-retry doctor'

export async function checkLockAddress(
  trx: Transaction<Database>,
  config: Config,
): Promise<Verdict> {
  const { lockUrl } = config.database
  try {
    await refuseSharedBackend(lockUrl, applicationName)
    const session = await openSession(lockUrl, applicationName)
    try {
      if ((await identityOf(trx)) !== (await identityOf(session.db)))
        return failed(
          'LOCK_DATABASE_URL leads to another database than DATABASE_URL',
          'let both name the same database of the same server',
        )
    } finally {
      await session.end()
    }
  } catch (error) {
    throw explainUnavailable(error, config.database, 'LOCK_DATABASE_URL')
  }
  return ok('a session of its own, no pooler between')
}

/** Which database of which running server; no two have the same, and any role may ask. */
async function identityOf(db: Kysely<Database>): Promise<string | undefined> {
  const { rows } = await sql<{ identity: string }>`
    select concat_ws(' ', oid, extract(epoch from pg_postmaster_start_time())) as identity
    from pg_database where datname = current_database()
  `.execute(db)
  return rows[0]?.identity
}
