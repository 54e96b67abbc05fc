/** Fetching from PostgreSQL, the claim itself is the function of the migration; and what a fetch has lost. */

import { sql } from 'kysely'
import type { FetchedJob } from '../../jobs/job.js'
import { storableText } from '../../jobs/storable-text.js'
import { checkFetch } from '../check-fetch.js'
import type { FetchRequest, LostJob, WorkerPort } from '../worker-port.js'
import type { Connections, Executor } from './connections.js'
import { isRefusal } from './item-by-item.js'
import { startsOf } from './lease-items.js'
import { startedRun } from './run.js'

interface Row {
  readonly id: string
  readonly token: string
  readonly type: string
  readonly queue: string
  readonly payload: string
  readonly priority: number
  readonly attempts: number
  readonly timeout_ms: number | null
  readonly zombie_ms: number | null
  readonly idempotency_key: string | null
  readonly tags: string[] | null
  readonly created_by: string | null
  readonly age_ms: number
  readonly lag_ms: number
  readonly checkpoint: string | null
}

/** What `chokaq.fetch_jobs` says of an isolation level under which it could exceed MaxWorkers. */
const wrongIsolation = '25000'

/**
 * One statement as a rule. Where the database or the role has its transactions begin in another isolation
 * level, which the first claim finds out, each claim gets a transaction that begins in the right one: two
 * round trips more, and a client that freezes between them keeps its queues' rows until the server ends
 * its session.
 */
export function createFetch(
  db: Connections,
): (request: FetchRequest) => Promise<readonly FetchedJob[]> {
  let inTransaction = false
  const fetch = async (request: FetchRequest): Promise<readonly FetchedJob[]> => {
    checkFetch(request)
    try {
      if (!inTransaction) return await claim(db, request)
      const own = db.transaction().setIsolationLevel('read committed')
      return await own.execute((trx) => claim(trx, request))
    } catch (error) {
      if (isRefusal(error) && request.start === true) return fetch({ ...request, start: false })
      if (inTransaction || (error as { code?: unknown } | null)?.code !== wrongIsolation)
        throw error
      inTransaction = true
      return fetch(request)
    }
  }
  return fetch
}

export async function giveBackLost(
  db: Executor,
  { owner, held }: Parameters<WorkerPort['giveBackLost']>[0],
): Promise<readonly LostJob[]> {
  const { rows } = await sql<LostJob>`
    with lost as materialized (
      select h.id from chokaq.jobs_hot h
      where h.owner = ${storableText(owner)} and h.token <> all (${held}::bigint[])
        and h.cancel_requested_by is null
      order by h.id for update of h skip locked
    )
    update chokaq.jobs_hot h
    set state = 0, owner = null, token = null, heartbeat_at = null, attempts = attempts - ${startsOf}
    from lost where h.id = lost.id
    returning h.id, h.type, h.queue
  `.execute(db)
  return rows
}

const none: readonly string[] = []

/** `chokaq.fetch_jobs` tells why no queue's MaxWorkers can be exceeded, and what it locks. */
async function claim(db: Executor, request: FetchRequest): Promise<readonly FetchedJob[]> {
  const { owner, limit, start = false } = request
  const queues = request.queues?.map((name) => storableText(name)) ?? null
  const { rows } = await sql<Row>`
    select f.id, f.token, f.type, f.queue, f.payload::text as payload, f.priority, f.attempts,
      f.idempotency_key, nullif(f.tags, '{}') as tags, f.created_by, f.checkpoint::text as checkpoint,
      date_part('epoch', f.heartbeat_at - f.enqueued_at) * 1000 as age_ms,
      date_part('epoch', f.heartbeat_at - f.scheduled_at) * 1000 as lag_ms,
      q.timeout_ms::float8 as timeout_ms, q.zombie_timeout_ms::float8 as zombie_ms
    from chokaq.fetch_jobs(${owner}, ${limit}, ${queues}::text[], ${start}) f
      left join chokaq.queues q on q.name = f.queue
    order by f.priority desc, f.scheduled_at, f.id
  `.execute(db)
  return rows.map((row) => ({
    lease: { jobId: row.id, owner, token: Number(row.token) },
    type: row.type,
    queue: row.queue,
    payload: row.payload,
    priority: row.priority,
    attempts: start ? row.attempts - 1 : row.attempts,
    started: start ? startedRun(row.attempts, row) : undefined,
    idempotencyKey: row.idempotency_key ?? undefined,
    tags: row.tags ?? none,
    createdBy: row.created_by ?? undefined,
    ageMs: row.age_ms,
    lagMs: row.lag_ms,
    checkpoint: row.checkpoint ?? undefined,
  }))
}
