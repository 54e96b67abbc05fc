/**
 * The statements behind the gauges, by the database's clock. They count what is not in order, which
 * is little on a good day; on a bad one the rows that failed are read once per look, through
 * ix_dcp_due and ix_outbox_pending.
 */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { OutboxOptions, RetryOptions } from '../config/config.js'
import type { Database } from '../postgres/schema.js'
import type { DatabaseValues } from './metrics.js'

type ProvisionValues = Pick<
  DatabaseValues,
  'failed' | 'oldestAgeSeconds' | 'poison' | 'lastRunTimestampSeconds'
>
type OutboxValues = Omit<DatabaseValues, keyof ProvisionValues | 'intakeParked'>

export async function readDatabaseValues(
  trx: Transaction<Database>,
  retry: RetryOptions,
  relay: OutboxOptions['relay'],
): Promise<DatabaseValues> {
  const provisions = await readProvisionValues(trx, retry)
  const outbox = relay === 'off' ? await readSlotValues(trx) : await readOutboxValues(trx)
  return { ...provisions, ...outbox, intakeParked: await countParkedMessages(trx) }
}

/** A row written by a clock ahead of the database's is of age 0. */
const ageSeconds = (since: RawBuilder<unknown>): RawBuilder<number> =>
  sql`greatest(0, coalesce(extract(epoch from clock_timestamp() - ${since}), 0))::float8`

async function readProvisionValues(
  trx: Transaction<Database>,
  retry: RetryOptions,
): Promise<ProvisionValues> {
  const { maxAttempts, stuckProvisioningAfterMs } = retry
  const oldest = sql`min(created_at) filter (where attempts < ${maxAttempts}::int and isfinite(created_at))`
  const { rows } = await sql<ProvisionValues>`
    select count(*)::float8 as failed,
      count(*) filter (where attempts >= ${maxAttempts}::int)::float8 as poison,
      ${ageSeconds(oldest)} as "oldestAgeSeconds",
      coalesce((
        select extract(epoch from finished_at)::float8 from messenger.chat_provision_runs
        where outcome = 'completed' order by started_at desc limit 1
      ), 0) as "lastRunTimestampSeconds"
    from messenger.deal_chat_provisions
    where status in ('Failed', 'Provisioning')
      and (status = 'Failed' or updated_at <= clock_timestamp()
        - ${stuckProvisioningAfterMs}::float8 * interval '1 millisecond')
  `.execute(trx)
  return only(rows)
}

/** What is parked waits for a person, not for the relay, and has a gauge of its own. */
async function readOutboxValues(trx: Transaction<Database>): Promise<OutboxValues> {
  const oldest = sql`min(occurred_at) filter (where parked_at is null)`
  const { rows } = await sql<{ backlog: number; parked: number; publishLagSeconds: number }>`
    select count(*) filter (where parked_at is null)::float8 as backlog,
      count(parked_at)::float8 as parked,
      ${ageSeconds(oldest)} as "publishLagSeconds"
    from messenger.outbox_events
    where published_at is null and superseded_at is null and skipped_at is null
  `.execute(trx)
  const { backlog, publishLagSeconds, parked } = only(rows)
  return { outbox: { backlog, publishLagSeconds }, outboxParked: parked, slot: null }
}

/** Of whichever run had the intake on: what it left waits for a person all the same. */
async function countParkedMessages(trx: Transaction<Database>): Promise<number> {
  const { rows } = await sql<{ parked: number }>`
    select count(*)::float8 as parked from messenger.intake_parked
  `.execute(trx)
  return only(rows).parked
}

/**
 * Nothing tells which slot a publication's reader uses, so all logical slots of this database count
 * and the one furthest behind is shown: that one holds back the WAL.
 */
async function readSlotValues(trx: Transaction<Database>): Promise<OutboxValues> {
  const { rows } = await sql<{ count: number; lagBytes: number }>`
    select count(*)::float8 as count,
      coalesce(max(pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
        confirmed_flush_lsn)), 0)::float8 as "lagBytes"
    from pg_replication_slots
    where slot_type = 'logical' and database = current_database()
  `.execute(trx)
  // Nothing is marked as published, so nothing can be told from the table.
  return { outbox: null, outboxParked: 0, slot: only(rows) }
}

function only<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate gave no row')
  return row
}
