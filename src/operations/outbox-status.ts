/** How the outbox stands: what waits and for how long, what is parked, what went out lately. */

import { sql, type Kysely } from 'kysely'
import type { OutboxOptions } from '../config/config.js'
import type { Database } from '../postgres/schema.js'
import { isInState } from './event-state.js'

export interface OutboxStatus {
  readonly relay: OutboxOptions['relay']
  /** Events that wait; null where Debezium relays, for then no row says that it was published. */
  readonly backlog: number | null
  /** The same by how long they wait, youngest first. */
  readonly backlogByAge: readonly { readonly age: string; readonly events: number }[] | null
  /** Age of the oldest that waits, in seconds; 0 where none does. */
  readonly publishLagSeconds: number | null
  /** Those that wait in backoff after a failure of their own. */
  readonly failing: number | null
  readonly parked: number
  readonly publishedLastHour: number | null
  /** By the hour, over the last day. */
  readonly publishedPerHour: number | null
  /** Logical replication slots of this database, where Debezium relays. */
  readonly slots: readonly Slot[] | null
}

interface Slot {
  readonly name: string
  readonly active: boolean
  readonly walStatus: string | null
  /** Bytes of WAL that the reader has not confirmed. */
  readonly lagBytes: number
}

/** Upper ends in seconds; an outage shows in which of them events pile up. */
const ages = [
  ['under 1m', 60],
  ['1m to 10m', 600],
  ['10m to 1h', 3_600],
  ['over 1h', null],
] as const

export async function outboxStatus(
  db: Kysely<Database>,
  relay: OutboxOptions['relay'],
): Promise<OutboxStatus> {
  const waiting = await readWaiting(db)
  if (relay === 'off') {
    const unknown = { backlog: null, backlogByAge: null, publishLagSeconds: null, failing: null }
    const { parked } = waiting
    const rates = { publishedLastHour: null, publishedPerHour: null }
    return { relay, ...unknown, parked, ...rates, slots: await readSlots(db) }
  }
  return { relay, ...waiting, ...(await readPublished(db)), slots: null }
}

interface Waiting {
  readonly backlog: number
  readonly backlogByAge: readonly { readonly age: string; readonly events: number }[]
  readonly publishLagSeconds: number
  readonly failing: number
  readonly parked: number
}

async function readWaiting(db: Kysely<Database>): Promise<Waiting> {
  const age = sql`extract(epoch from statement_timestamp() - e.occurred_at)`
  const counts = ages.map(([, end], index) => {
    const from = ages[index - 1]?.[1]
    const isOlder = from == null ? sql`true` : sql`${age} >= ${from}`
    const isYounger = end === null ? sql`true` : sql`${age} < ${end}`
    return sql`count(*) filter (where e.parked_at is null and ${isOlder} and ${isYounger})::float8`
  })
  const { rows } = await sql<{
    events: number[]
    lag: number
    failing: number
    parked: number
  }>`
    select array[${sql.join(counts)}] as events,
      greatest(0, coalesce(max(${age}) filter (where e.parked_at is null), 0))::float8 as lag,
      count(*) filter (where e.parked_at is null and e.attempts > 0)::float8 as failing,
      count(e.parked_at)::float8 as parked
    from messenger.outbox_events e
    where ${isInState.pending} or ${isInState.parked}
  `.execute(db)
  const { events = [], lag = 0, failing = 0, parked = 0 } = rows[0] ?? {}
  return {
    backlog: events.reduce((total, n) => total + n, 0),
    backlogByAge: ages.map(([name], index) => ({ age: name, events: events[index] ?? 0 })),
    publishLagSeconds: lag,
    failing,
    parked,
  }
}

/** By ix_outbox_finished, of which a day is read. */
async function readPublished(
  db: Kysely<Database>,
): Promise<{ publishedLastHour: number; publishedPerHour: number }> {
  const { rows } = await sql<{ hour: number; day: number }>`
    select count(*) filter (where published_at > statement_timestamp() - interval '1 hour')::float8
        as hour, count(published_at)::float8 as day
    from messenger.outbox_events
    where coalesce(published_at, superseded_at, skipped_at)
      > statement_timestamp() - interval '1 day'
  `.execute(db)
  const { hour = 0, day = 0 } = rows[0] ?? {}
  return { publishedLastHour: hour, publishedPerHour: Math.round((day / 24) * 10) / 10 }
}

async function readSlots(db: Kysely<Database>): Promise<Slot[]> {
  const { rows } = await sql<Slot>`
    select slot_name as name, active, wal_status as "walStatus",
      coalesce(pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
        confirmed_flush_lsn), 0)::float8 as "lagBytes"
    from pg_catalog.pg_replication_slots
    where slot_type = 'logical' and database = current_database()
    order by slot_name
  `.execute(db)
  return rows
}
