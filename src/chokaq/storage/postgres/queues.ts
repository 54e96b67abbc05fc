/** Queues and their limits, in PostgreSQL. */

import { sql } from 'kysely'
import { checkQueueChanges, queueChanged } from '../../jobs/check-queue.js'
import { checkActor, checkQueueName } from '../../jobs/check-job.js'
import type { ChangedQueue, OperatorPort, QueueChanges, QueueSettings } from '../operator-port.js'
import type { QueueStatus } from '../reading-port.js'
import type { Executor } from './connections.js'

interface SettingsRow {
  readonly paused: boolean
  readonly max_workers: number | null
  readonly zombie_timeout_ms: number | null
  readonly timeout_ms: number | null
}

/** bigint as a number: no limit is anywhere near 2^53. */
const settingsColumns = sql.raw(`
  paused, max_workers, zombie_timeout_ms::float8 as zombie_timeout_ms,
  timeout_ms::float8 as timeout_ms`)

/** What a queue without a row has. */
const unlimited: SettingsRow = {
  paused: false,
  max_workers: null,
  zombie_timeout_ms: null,
  timeout_ms: null,
}

function toSettings(row: SettingsRow): QueueSettings {
  return {
    paused: row.paused,
    maxWorkers: row.max_workers ?? undefined,
    zombieTimeoutMs: row.zombie_timeout_ms ?? undefined,
    timeoutMs: row.timeout_ms ?? undefined,
  }
}

/** A change writes the time under the row's lock, so no two of one queue have the same. */
const version = sql`(extract(epoch from q.updated_at) * 1000000)::bigint::text`

export async function changeQueue(
  db: Executor,
  name: string,
  changes: QueueChanges,
  { by, ifVersion }: { readonly by: string; readonly ifVersion?: string | undefined },
): Promise<ChangedQueue> {
  checkActor(by)
  checkQueueName(name)
  checkQueueChanges(changes)
  const { paused, maxWorkers, zombieTimeoutMs, timeoutMs } = changes
  // What is undefined keeps its value in a row that is there already.
  const kept = (column: string, change: unknown) =>
    change === undefined ? sql`q.${sql.ref(column)}` : sql`excluded.${sql.ref(column)}`
  const isMeant = sql`${ifVersion ?? null}::text is null`
  // The row is locked and read before it is written: the count needs all of `old`.
  const { rows } = await sql<SettingsRow & { version: string; before: SettingsRow | null }>`
    with old as materialized (
      select ${settingsColumns}, ${version} as version
      from chokaq.queues q where q.name = ${name} for no key update
    ),
    changed as (
      insert into chokaq.queues as q
        (name, paused, max_workers, zombie_timeout_ms, timeout_ms, updated_by)
      select ${name}::text, ${paused ?? false}::boolean, ${maxWorkers ?? null}::int,
        ${zombieTimeoutMs ?? null}::bigint, ${timeoutMs ?? null}::bigint, ${by}::text
      from (select count(*) filter (where version = ${ifVersion ?? null}::text) as same from old) o
      where ${isMeant} or o.same = 1
      on conflict (name) do update set
        paused = ${kept('paused', paused)},
        max_workers = ${kept('max_workers', maxWorkers)},
        zombie_timeout_ms = ${kept('zombie_timeout_ms', zombieTimeoutMs)},
        timeout_ms = ${kept('timeout_ms', timeoutMs)},
        updated_at = clock_timestamp(), updated_by = excluded.updated_by
      returning ${settingsColumns}, ${version} as version
    )
    select changed.*, (select to_json(old) from old) as before from changed
  `.execute(db)
  const [row] = rows
  if (row === undefined) throw queueChanged(name)
  const { before } = row
  return {
    settings: toSettings(row),
    before: toSettings(before ?? unlimited),
    version: row.version,
  }
}

export async function seedQueues(
  db: Executor,
  queues: Parameters<OperatorPort['seedQueues']>[0],
): Promise<void> {
  for (const { name, settings } of queues) {
    checkQueueName(name)
    checkQueueChanges(settings)
  }
  // One by one: several instances that start at once never wait for each other in a circle.
  for (const { name, settings } of queues) {
    const { paused = false, maxWorkers, zombieTimeoutMs, timeoutMs } = settings
    await sql`
      insert into chokaq.queues (name, paused, max_workers, zombie_timeout_ms, timeout_ms)
      values (${name}, ${paused}, ${maxWorkers ?? null}, ${zombieTimeoutMs ?? null},
        ${timeoutMs ?? null})
      on conflict (name) do nothing
    `.execute(db)
  }
}

type StatusRow = SettingsRow &
  Pick<QueueStatus, 'name' | 'due' | 'scheduled' | 'fetched' | 'processing' | 'dead'> & {
    readonly lag_seconds: number
  }

export async function listQueues(db: Executor): Promise<readonly QueueStatus[]> {
  const { rows } = await sql<StatusRow>`
    with live as (
      select h.queue as name,
        count(*) filter (where state = 0 and scheduled_at <= n.now)::integer as due,
        count(*) filter (where state = 0 and scheduled_at > n.now)::integer as scheduled,
        count(*) filter (where state = 1)::integer as fetched,
        count(*) filter (where state = 2)::integer as processing,
        extract(epoch from n.now - min(scheduled_at) filter (where state = 0))::float8 as lag
      from chokaq.jobs_hot h, (select clock_timestamp() as now) n
      group by h.queue, n.now
    ),
    dead as (select queue as name, count(*)::integer as dead from chokaq.jobs_dlq group by queue)
    select name, coalesce(paused, false) as paused, max_workers,
      zombie_timeout_ms::float8 as zombie_timeout_ms, timeout_ms::float8 as timeout_ms,
      coalesce(due, 0) as due, coalesce(scheduled, 0) as scheduled,
      coalesce(fetched, 0) as fetched, coalesce(processing, 0) as processing,
      coalesce(dead, 0) as dead, greatest(0, coalesce(lag, 0)) as lag_seconds
    from chokaq.queues full join live using (name) full join dead using (name)
    order by name
  `.execute(db)
  return rows.map((row) => ({
    name: row.name,
    settings: toSettings(row),
    due: row.due,
    scheduled: row.scheduled,
    fetched: row.fetched,
    processing: row.processing,
    dead: row.dead,
    lagSeconds: row.lag_seconds,
  }))
}
