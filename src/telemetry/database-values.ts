/**
 * The statements behind the gauges, by the database's clock. They count what is not in order, which
 * is little on a good day. On a bad one the entries of what waits are counted once per look, in
 * ix_dcp_open and ix_outbox_pending, whose columns are all that the counts name; what is oldest is
 * looked up. Ready rows and published events are in neither index.
 */

import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { OutboxOptions, RetryOptions } from '../config/config.js'
import type { Database } from '../postgres/schema.js'
import { isOpen, openLevels } from '../provisioning/open-levels.js'
import type { DatabaseValues } from './metrics.js'

type ProvisionGauges = Pick<
  DatabaseValues,
  'failed' | 'oldestAgeSeconds' | 'poison' | 'lastRunTimestampSeconds'
>
type OutboxValues = Omit<DatabaseValues, keyof ProvisionGauges | 'intakeParked'>

interface ProvisionValues extends ProvisionGauges {
  /** Those of the failed ones that hang in Provisioning. */
  readonly stuck: number
}

/**
 * For the look's transaction. What is counted lies in small indexes, whatever the statistics say: those of
 * an outage just past tell that all rows are open, and all Ready ones would be read.
 */
export async function limitLook(
  trx: Transaction<Database>,
  statementTimeoutMs: number,
): Promise<void> {
  await sql`
    select set_config('statement_timeout', ${String(statementTimeoutMs)}, true),
      set_config('enable_seqscan', 'off', true)
  `.execute(trx)
}

export async function readDatabaseValues(
  trx: Transaction<Database>,
  retry: RetryOptions,
  relay: OutboxOptions['relay'],
): Promise<DatabaseValues & ProvisionValues> {
  const provisions = await readProvisionValues(trx, retry)
  const outbox = relay === 'off' ? await readSlotValues(trx) : await readOutboxValues(trx)
  return { ...provisions, ...outbox, intakeParked: await countParkedMessages(trx) }
}

/** A row written by a clock ahead of the database's is of age 0. */
const ageSeconds = (since: RawBuilder<unknown>): RawBuilder<number> =>
  sql`greatest(0, coalesce(extract(epoch from clock_timestamp() - ${since}), 0))::float8`

/** One statement. */
export async function readProvisionValues(
  trx: Kysely<Database>,
  retry: RetryOptions,
): Promise<ProvisionValues> {
  const { maxAttempts, stuckProvisioningAfterMs } = retry
  const isStuck = sql`p.updated_at <= clock_timestamp()
    - ${stuckProvisioningAfterMs}::float8 * interval '1 millisecond'`
  const counted = sql`count(*) as rows,
    count(*) filter (where p.attempts >= ${maxAttempts}::int) as poison
    from messenger.deal_chat_provisions p where ${isOpen}`
  const { rows } = await sql<ProvisionValues>`
    with recursive ${openLevels(maxAttempts)},
    oldest as (
      select min(first.created_at) as created_at
      from level cross join lateral (
        select p.created_at
        from messenger.deal_chat_provisions p
        -- As ix_dcp_oldest says it.
        where p.status = level.status and (p.status = 'Ready') is false
          and p.attempts = level.attempts
          and p.created_at > '-infinity' and p.created_at < 'infinity'
          and (p.status = 'Failed' or ${isStuck})
        order by p.created_at
        limit 1
      ) first
    ),
    failed as (select ${counted} and p.status = 'Failed'),
    stuck as (select ${counted} and p.status = 'Provisioning' and ${isStuck})
    select (failed.rows + stuck.rows)::float8 as failed,
      stuck.rows::float8 as stuck,
      (failed.poison + stuck.poison)::float8 as poison,
      ${ageSeconds(sql`oldest.created_at`)} as "oldestAgeSeconds",
      coalesce((
        select extract(epoch from finished_at)::float8 from messenger.chat_provision_runs
        where outcome = 'completed' order by started_at desc limit 1
      ), 0) as "lastRunTimestampSeconds"
    from failed, stuck, oldest
  `.execute(trx)
  return only(rows)
}

/**
 * The first in the line: `seq` is drawn when an event is written, so the oldest is among them, though
 * writers overtake each other by moments.
 */
const firstInLine = 1_000

/** What is parked waits for a person, not for the relay, and has a gauge of its own. */
async function readOutboxValues(trx: Transaction<Database>): Promise<OutboxValues> {
  const undecided = sql`published_at is null and superseded_at is null and skipped_at is null`
  const waiting = sql`from messenger.outbox_events where ${undecided} and parked_at is null`
  const { rows } = await sql<{ backlog: number; parked: number; publishLagSeconds: number }>`
    select (select count(*) ${waiting})::float8 as backlog,
      (select count(*) from messenger.outbox_events
       where ${undecided} and parked_at is not null)::float8 as parked,
      ${ageSeconds(sql`oldest.occurred_at`)} as "publishLagSeconds"
    from (
      select min(occurred_at) as occurred_at
      from (select occurred_at ${waiting} order by seq limit ${firstInLine}) line
    ) oldest
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
