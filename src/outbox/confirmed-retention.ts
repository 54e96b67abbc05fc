/**
 * Retention where Debezium relays: no row says of itself that it was published, so old events are
 * deleted by age, and only once every logical slot of this database has confirmed their commits.
 *
 * A batch is chosen first and the WAL's end noted with it: what is visible has its commit record
 * before that place. It is deleted in a later pass, when the slots have confirmed the place. So
 * neither a late commit nor a backdated row can be deleted unread.
 */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { logOutbox, type OutboxLog } from './outbox-log.js'
import { deleteEvents, retentionBatchRows } from './retention.js'

/**
 * The connector's heartbeat makes the slot move every 10 s (deploy/connect), so a pass finds the
 * batch of the last one confirmed: 1,000 rows each, five million a day.
 */
export const confirmedRetentionIntervalMs = 15_000

interface AgedEvents {
  readonly ids: readonly string[]
  /** A place in the WAL that is not before the commit of any of them. */
  readonly lsn: string
}

export interface ConfirmedRetentionOptions {
  readonly db: Kysely<Database>
  readonly retentionMs: number
  readonly log: OutboxLog
}

/** One pass, to be called now and then; it remembers the batch chosen by the last one. */
export function createConfirmedRetention(options: ConfirmedRetentionOptions): () => Promise<void> {
  const { db, retentionMs, log } = options
  let chosen: AgedEvents | undefined
  let told: string | undefined

  return async () => {
    const reason = await reasonToWait(db, chosen?.lsn ?? '0/0')
    // Said once for each reason: an hour of the same is no news. A slot that is just on its way is none.
    if (reason !== told && reason !== 'behind') {
      told = reason
      if (reason !== undefined) logOutbox(log, 'outbox retention waits', { reason })
    }
    if (reason !== undefined) return
    if (chosen !== undefined) {
      const deleted = await deleteEvents(db, chosen.ids)
      if (deleted > 0) logOutbox(log, 'outbox pruned', { events: deleted })
    }
    chosen = await chooseAgedEvents(db, retentionMs)
  }
}

/**
 * The first batch of events older than the retention, by seq and not by age, which no index has:
 * a batch of the lowest seqs is read and the young ones of it are left, so that a pass costs the
 * same with nothing to delete. What is parked was left behind by a relay of this service, waits for
 * an operator, and is passed over.
 */
async function chooseAgedEvents(
  db: Kysely<Database>,
  retentionMs: number,
): Promise<AgedEvents | undefined> {
  const { rows } = await sql<AgedEvents>`
    select coalesce(array_agg(id), '{}') as ids, pg_current_wal_insert_lsn()::text as lsn
    from (
      select id, occurred_at
      from messenger.outbox_events
      where parked_at is null or coalesce(published_at, superseded_at, skipped_at) is not null
      order by seq
      limit ${retentionBatchRows}
    ) lowest
    where occurred_at < statement_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'
  `.execute(db)
  const [aged] = rows
  return aged === undefined || aged.ids.length === 0 ? undefined : aged
}

/**
 * Why nothing may be deleted now. An inactive slot may be a new one in the place of a lost one,
 * which confirms what nobody has read: until the connector has taken its snapshot and reads it,
 * the table is the only copy.
 */
async function reasonToWait(db: Kysely<Database>, lsn: string): Promise<string | undefined> {
  const { rows } = await sql<{ name: string; lost: boolean; active: boolean; confirmed: boolean }>`
    select slot_name as name, coalesce(wal_status = 'lost', false) as lost, active,
      coalesce(confirmed_flush_lsn >= ${lsn}::pg_lsn, false) as confirmed
    from pg_catalog.pg_replication_slots
    where slot_type = 'logical' and database = current_database()
    order by slot_name
  `.execute(db)
  if (rows.length === 0) return 'there is no replication slot, so nothing relays the outbox'
  const lost = rows.find((slot) => slot.lost)
  if (lost !== undefined) return `replication slot ${lost.name} is lost`
  const idle = rows.find((slot) => !slot.active)
  if (idle !== undefined) return `nobody reads replication slot ${idle.name}`
  return rows.every((slot) => slot.confirmed) ? undefined : 'behind'
}
