/** From the start of a run to its end: start, heartbeat, checkpoint, in PostgreSQL. */

import { sql } from 'kysely'
import { checkPayload } from '../../jobs/check-job.js'
import type { Lease, StartedRun } from '../../jobs/job.js'
import { storableProgress } from '../../jobs/storable-number.js'
import type { HeartbeatResult, StartResult } from '../worker-port.js'
import type { Executor } from './connections.js'
import { isHeld, itemRelation } from './lease-items.js'

export async function start(
  db: Executor,
  leases: readonly Lease[],
): Promise<readonly StartResult[]> {
  // By ord and not by joining the parts again: each of them looks like one row to the planner, and a
  // nested loop over two of them is a loop over the square of the batch.
  const { rows } = await sql<{
    ord: number
    attempts: number | null
    timeout_ms: number | null
    zombie_ms: number | null
  }>`
    with ${itemRelation(leases.map((lease) => ({ lease })))},
    held as materialized (
      select i.ord, h.id, coalesce(q.paused, false) as paused, q.timeout_ms,
        q.zombie_timeout_ms as zombie_ms
      from chokaq.jobs_hot h join item i on ${isHeld}
        left join chokaq.queues q on q.name = h.queue
      where h.state = 1 order by h.id for no key update of h
    ),
    begun as (
      update chokaq.jobs_hot h
      set state = 2, attempts = h.attempts + 1,
        started_at = clock_timestamp(), heartbeat_at = clock_timestamp()
      from held where h.id = held.id and not held.paused
      returning held.ord, h.attempts, held.timeout_ms, held.zombie_ms
    )
    select ord::int, attempts, timeout_ms::float8 as timeout_ms, zombie_ms::float8 as zombie_ms
    from begun
    union all select ord::int, null, null, null from held where paused
  `.execute(db)
  const answers = leases.map((): StartResult => ({ outcome: 'stale' }))
  for (const { ord, attempts, ...limits } of rows) {
    answers[ord - 1] =
      attempts === null
        ? { outcome: 'paused' }
        : {
            outcome: 'started',
            ...startedRun(attempts, limits),
          }
  }
  return answers
}

/** @param attempt its number; the limits are its queue's */
export function startedRun(
  attempt: number,
  limits: { readonly timeout_ms: number | null; readonly zombie_ms: number | null },
): StartedRun {
  return {
    attempt,
    timeoutMs: limits.timeout_ms ?? undefined,
    zombieTimeoutMs: limits.zombie_ms ?? undefined,
  }
}

type Beat = { readonly lease: Lease; readonly progress?: number | undefined }

export async function heartbeat(
  db: Executor,
  beats: readonly Beat[],
): Promise<readonly HeartbeatResult[]> {
  const columns = [
    {
      name: 'progress',
      type: 'smallint',
      value: ({ progress }: Beat) => (progress === undefined ? null : storableProgress(progress)),
    },
  ] as const
  const { rows } = await sql<{
    alive: boolean
    by: string | null
    reason: string | null
  }>`
    with ${itemRelation(beats, columns)},
    held as materialized (
      select i.ord, h.id, i.progress from chokaq.jobs_hot h join item i on ${isHeld}
      where h.state in (1, 2) order by h.id for no key update of h
    ),
    beaten as (
      update chokaq.jobs_hot h
      set heartbeat_at = clock_timestamp(),
        progress = case when h.state = 2 then coalesce(held.progress, h.progress) end
      from held where h.id = held.id
      returning h.id, h.cancel_requested_by, h.cancel_reason
    )
    select b.id is not null as alive, b.cancel_requested_by as by, b.cancel_reason as reason
    from item i left join held using (ord) left join beaten b on b.id = held.id order by i.ord
  `.execute(db)
  return rows.map(({ alive, by, reason }) => {
    if (!alive) return { outcome: 'stale' }
    return by === null || reason === null
      ? { outcome: 'alive' }
      : { outcome: 'cancel-requested', by, reason }
  })
}

export async function saveCheckpoint(
  db: Executor,
  lease: Lease,
  checkpoint: string,
): Promise<boolean> {
  checkPayload(checkpoint, 'CHECKPOINT_INVALID')
  const result = await sql`
    with ${itemRelation([{ lease }])}
    update chokaq.jobs_hot h set checkpoint = ${checkpoint}::json
    from item i where ${isHeld} and h.state = 2
  `.execute(db)
  return result.numAffectedRows === 1n
}
