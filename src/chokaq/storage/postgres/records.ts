/** Jobs as readers see them, from PostgreSQL's rows. */

import { sql, type RawBuilder } from 'kysely'
import type { DeadJob, HotJob, JobRecord } from '../../jobs/job.js'
import type { FailureReason } from '../../kernel/failure.js'
import { placeOf, stateOfCode, type Place } from '../../kernel/job-state.js'

/** timestamptz as whole milliseconds since the epoch. */
const ms = (column: string) =>
  sql`floor(extract(epoch from ${sql.ref(column)}) * 1000)::float8 as ${sql.ref(`${column}_ms`)}`

const common = sql`
  id, queue, type, payload::text as payload, priority, state, attempts, idempotency_key, tags, owner,
  checkpoint::text as checkpoint, created_by, modified_by, ${ms('created_at')}, ${ms('started_at')}`

/** To the microsecond, which a cursor needs. */
const finished = sql`
  ${ms('finished_at')}, (extract(epoch from finished_at) * 1000000)::bigint::text as finished_us`

export const columnsOf = {
  hot: sql`${common}, ${ms('scheduled_at')}, ${ms('heartbeat_at')}, progress, cancel_requested_by,
    last_error`,
  archive: sql`${common}, ${finished}, duration_ms`,
  dlq: sql`${common}, ${finished}, reason, details`,
} as const satisfies Record<Place, RawBuilder<unknown>>

/** Of the columns below the common ones, only those of the row's place are there. */
export interface RecordRow {
  readonly id: string
  readonly queue: string
  readonly type: string
  readonly payload: string
  readonly priority: number
  readonly state: number
  readonly attempts: number
  readonly idempotency_key: string | null
  readonly tags: string[]
  readonly owner: string | null
  readonly checkpoint: string | null
  readonly created_by: string | null
  readonly modified_by: string | null
  readonly created_at_ms: number
  readonly started_at_ms: number | null
  readonly scheduled_at_ms: number
  readonly heartbeat_at_ms: number | null
  readonly progress: number | null
  readonly cancel_requested_by: string | null
  readonly last_error: string | null
  readonly finished_at_ms: number
  readonly finished_us: string
  readonly duration_ms: number
  readonly reason: string
  readonly details: string
}

export function toRecord(row: RecordRow): JobRecord {
  const state = stateOfCode(row.state)
  const base = {
    id: row.id,
    type: row.type,
    queue: row.queue,
    payload: row.payload,
    priority: row.priority,
    attempts: row.attempts,
    idempotencyKey: row.idempotency_key ?? undefined,
    tags: row.tags,
    createdBy: row.created_by ?? undefined,
    createdAtMs: row.created_at_ms,
    startedAtMs: row.started_at_ms ?? undefined,
    owner: row.owner ?? undefined,
    modifiedBy: row.modified_by ?? undefined,
    checkpoint: row.checkpoint ?? undefined,
  }
  const place = placeOf(state)
  switch (place) {
    case 'hot':
      return {
        ...base,
        place,
        state: state as HotJob['state'],
        dueAtMs: row.scheduled_at_ms,
        heartbeatAtMs: row.heartbeat_at_ms ?? undefined,
        progress: row.progress ?? undefined,
        cancelRequestedBy: row.cancel_requested_by ?? undefined,
        lastError: row.last_error ?? undefined,
      }
    case 'archive':
      return {
        ...base,
        place,
        state: 'Succeeded',
        finishedAtMs: row.finished_at_ms,
        durationMs: row.duration_ms,
      }
    case 'dlq':
      return {
        ...base,
        place,
        state: state as DeadJob['state'],
        finishedAtMs: row.finished_at_ms,
        reason: row.reason as FailureReason,
        details: row.details,
      }
  }
}
