/**
 * Where Debezium relays (OUTBOX_RELAY=off): is there a slot that it can read, does somebody read it, and
 * how far behind is it? Nothing tells which slot is Debezium's, so all logical ones of the database count.
 */

import { sql, type Transaction } from 'kysely'
import type { Config } from '../../config/config.js'
import type { Database } from '../../postgres/schema.js'
import { failed, skipped, warning, worstOf, type Verdict } from '../finding.js'

/** As the alert ChatProvisionSlotLag. */
const lagAtMost = 2 ** 30
const runbook = 'runbooks/outbox-slot.md'

interface Slot {
  readonly name: string
  readonly active: boolean
  /** reserved, extended, unreserved or lost. */
  readonly state: string | null
  readonly lagBytes: number
  readonly lag: string
}

export async function checkReplicationSlot(
  trx: Transaction<Database>,
  { outbox }: Config,
): Promise<Verdict> {
  if (outbox.relay !== 'off') return skipped(`OUTBOX_RELAY=${outbox.relay}: none is needed`)
  const { rows: slots } = await sql<Slot>`
    select slot_name::text as name, active, wal_status as state, lag::float8 as "lagBytes",
      pg_size_pretty(lag) as lag
    from (
      select *, coalesce(pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
        confirmed_flush_lsn), 0) as lag
      from pg_replication_slots
      where slot_type = 'logical' and database = current_database()
    ) as slot order by slot_name
  `.execute(trx)
  if (slots.length === 0) return withoutSlot(trx)
  const troubles = [...slots.flatMap(troublesOf), ...(await withoutBound(trx))]
  return worstOf(
    troubles,
    slots.map(({ name, lag }) => `${name} is read, ${lag} behind`).join('; '),
  )
}

async function withoutSlot(trx: Transaction<Database>): Promise<Verdict> {
  const { rows } = await sql<{ level: string }>`
    select current_setting('wal_level') as level
  `.execute(trx)
  const level = rows[0]?.level
  return failed(
    'there is no logical replication slot, so nothing relays the outbox' +
      (level === 'logical' ? '' : `, and there can be none with wal_level ${level ?? 'unknown'}`),
    (level === 'logical' ? '' : 'set wal_level to logical and restart PostgreSQL; ') +
      'run deploy/connect/slot.sql and start Debezium, or let this service relay: OUTBOX_RELAY=kafka',
  )
}

function troublesOf({ name, active, state, lagBytes, lag }: Slot): Verdict[] {
  if (state === 'lost') {
    return [failed(`${name} is lost: its WAL is gone`, `${runbook}, Lost slot`)]
  }
  const behind = lagBytes > lagAtMost
  if (state === 'unreserved') {
    return [
      failed(`${name} is about to be lost, ${lag} behind`, `start its reader now; ${runbook}`),
    ]
  }
  if (behind) return [failed(`${name} is ${lag} behind`, `${runbook}, Slot lag grows`)]
  if (active) return []
  return [warning(`nobody reads ${name}, ${lag} behind`, `start Debezium; ${runbook}`)]
}

/** A slot that nobody reads then fills the disk, and the messenger stops as well. */
async function withoutBound(trx: Transaction<Database>): Promise<Verdict[]> {
  const { rows } = await sql<{ bound: string }>`
    select current_setting('max_slot_wal_keep_size') as bound
  `.execute(trx)
  if (rows[0]?.bound !== '-1') return []
  return [
    warning(
      'max_slot_wal_keep_size sets no bound to what a slot may hold back',
      `set it to what the disk can spare; ${runbook}, The guard`,
    ),
  ]
}
