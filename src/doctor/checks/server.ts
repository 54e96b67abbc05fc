/** Is this a PostgreSQL that the service runs on, and one that takes writes? */

import { sql, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { failed, ok, warning, type Verdict } from '../finding.js'

/** Tested with these; `server_version_num` has the major version in front of four digits. */
const supported = { from: 15, to: 18 }

export async function checkServer(trx: Transaction<Database>): Promise<Verdict> {
  const { rows } = await sql<{ version: string; major: number; standby: boolean; fixed: boolean }>`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as major,
      pg_is_in_recovery() as standby,
      current_setting('default_transaction_read_only')::boolean as fixed
  `.execute(trx)
  const server = rows[0]
  if (server === undefined) throw new Error('the server told nothing about itself')
  const { version, major } = server
  if (server.standby)
    return failed(`a standby, which takes no writes`, 'let DATABASE_URL name the primary')
  if (server.fixed)
    return failed(
      'default_transaction_read_only is on, so nothing can be written',
      'let DATABASE_URL name the primary, or switch that setting off',
    )
  if (major < supported.from)
    return failed(`PostgreSQL ${version}`, `upgrade it to ${supported.from} or later`)
  if (major > supported.to)
    return warning(
      `PostgreSQL ${version}, newer than what this version was tested with`,
      `use one of ${supported.from} to ${supported.to}, or a newer chat-provision-retry`,
    )
  return ok(`PostgreSQL ${version}, takes writes`)
}
