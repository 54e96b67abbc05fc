/**
 * What holds vacuum back: transactions open for long, prepared ones that nobody ends, and replication
 * slots that nobody reads. Dead rows of the outbox then pile up, and polls get slow.
 */

import { sql, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { warning, worstOf, type Verdict } from '../finding.js'

export interface AgeLimits {
  readonly minutes: number
  /** Of other roles' sessions only the age in transactions is shown. */
  readonly transactions: number
}

/** Our own transactions end within seconds, a report may take minutes; a million are hours of traffic. */
export const ageLimits: AgeLimits = { minutes: 15, transactions: 1_000_000 }
/** The first few are enough to begin with. */
const shownAtMost = 3

export async function checkTransactions(
  trx: Transaction<Database>,
  limits: AgeLimits,
): Promise<Verdict> {
  const troubles = [
    ...(await sessions(trx, limits)),
    ...(await prepared(trx, limits)),
    ...(await slots(trx, limits)),
  ]
  return worstOf(troubles, `no transaction open for over ${limits.minutes} minutes`)
}

async function sessions(trx: Transaction<Database>, limits: AgeLimits): Promise<Verdict[]> {
  const { rows } = await sql<{ pid: number; name: string; open: string | null; age: number }>`
    select pid, coalesce(nullif(application_name, ''), usename, 'unnamed') as name,
      date_trunc('minute', clock_timestamp() - xact_start)::text as open,
      coalesce(age(backend_xmin), 0) as age
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (xact_start < clock_timestamp() - ${limits.minutes}::int * interval '1 minute'
        or age(backend_xmin) > ${limits.transactions}::int)
    order by xact_start limit ${shownAtMost}
  `.execute(trx)
  return rows.map(({ pid, name, open, age }) =>
    warning(
      `${name} (pid ${pid}) has a transaction open ` +
        (open === null ? `since ${age} transactions` : `for ${open}`),
      `ask its owner to end it, or: select pg_terminate_backend(${pid})`,
    ),
  )
}

async function prepared(trx: Transaction<Database>, limits: AgeLimits): Promise<Verdict[]> {
  const { rows } = await sql<{ gid: string }>`
    select gid from pg_prepared_xacts
    where database = current_database()
      and prepared < clock_timestamp() - ${limits.minutes}::int * interval '1 minute'
    order by prepared limit ${shownAtMost}
  `.execute(trx)
  return rows.map(({ gid }) =>
    warning(
      `the prepared transaction ${gid} is left open`,
      `commit prepared '${gid}', or rollback prepared '${gid}'`,
    ),
  )
}

async function slots(trx: Transaction<Database>, limits: AgeLimits): Promise<Verdict[]> {
  const { rows } = await sql<{ name: string; age: number }>`
    select slot_name::text as name, greatest(age(xmin), age(catalog_xmin)) as age
    from pg_replication_slots
    where not active and greatest(age(xmin), age(catalog_xmin)) > ${limits.transactions}::int
    order by 2 desc limit ${shownAtMost}
  `.execute(trx)
  return rows.map(({ name, age }) =>
    warning(
      `nobody reads the replication slot ${name}, ${age} transactions behind`,
      'start its reader again; drop the slot only if it has none (runbooks/outbox-slot.md)',
    ),
  )
}
