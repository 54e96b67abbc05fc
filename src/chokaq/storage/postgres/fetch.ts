/** Fetching from PostgreSQL: the claim itself is the function of the migration. */

import { sql } from 'kysely'
import type { FetchedJob } from '../../jobs/job.js'
import { storableText } from '../../jobs/storable-text.js'
import { checkFetch } from '../check-fetch.js'
import type { FetchRequest } from '../worker-port.js'
import type { Connections } from './connections.js'

interface Row {
  readonly id: string
  readonly token: string
  readonly type: string
  readonly queue: string
  readonly payload: string
  readonly priority: number
  readonly attempts: number
  readonly idempotency_key: string | null
  readonly tags: string[]
  readonly created_by: string | null
  readonly age_ms: number
  readonly lag_ms: number
  readonly checkpoint: string | null
}

/** `chokaq.fetch_jobs` tells why no queue's MaxWorkers can be exceeded, and what it locks. */
export async function fetch(
  db: Connections,
  request: FetchRequest,
): Promise<readonly FetchedJob[]> {
  checkFetch(request)
  const { owner, limit } = request
  const queues = request.queues?.map((name) => storableText(name)) ?? null
  const { rows } = await sql<Row>`
    select f.id, f.token, f.type, f.queue, f.payload::text as payload, f.priority, f.attempts,
      f.idempotency_key, f.tags, f.created_by, f.checkpoint::text as checkpoint,
      extract(epoch from f.heartbeat_at - f.enqueued_at)::float8 * 1000 as age_ms,
      extract(epoch from f.heartbeat_at - f.scheduled_at)::float8 * 1000 as lag_ms
    from chokaq.fetch_jobs(${owner}, ${limit}, ${queues}::text[]) f
    order by f.priority desc, f.scheduled_at, f.id
  `.execute(db)
  return rows.map((row) => ({
    lease: { jobId: row.id, owner, token: Number(row.token) },
    type: row.type,
    queue: row.queue,
    payload: row.payload,
    priority: row.priority,
    attempts: row.attempts,
    idempotencyKey: row.idempotency_key ?? undefined,
    tags: row.tags,
    createdBy: row.created_by ?? undefined,
    ageMs: row.age_ms,
    lagMs: row.lag_ms,
    checkpoint: row.checkpoint ?? undefined,
  }))
}
