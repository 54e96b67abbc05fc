/** Enqueueing into memory. */

import { checkNewJob } from '../../jobs/check-job.js'
import type { NewJob } from '../../jobs/job.js'
import type { NewJobId } from '../../jobs/job-id.js'
import { limits } from '../../jobs/limits.js'
import type { Enqueued } from '../enqueue-port.js'
import type { MemoryTables, StoredJob } from './memory-tables.js'

export function enqueue(
  tables: MemoryTables,
  newId: NewJobId,
  jobs: readonly NewJob[],
): readonly Enqueued[] {
  jobs.forEach(checkNewJob)
  const taken = new Map<string, string>()
  const fresh: StoredJob[] = []
  const answers = jobs.map((job) => {
    const key = job.idempotencyKey
    const live = key === undefined ? undefined : (tables.liveKeys.get(key) ?? taken.get(key))
    if (live !== undefined) return { id: live, created: false }
    const id = newId()
    if (key !== undefined) taken.set(key, id)
    fresh.push(newStoredJob(id, job, tables.now()))
    return { id, created: true }
  })
  tables.insert(fresh)
  return answers
}

function newStoredJob(id: string, job: NewJob, nowMs: number): StoredJob {
  return {
    id,
    type: job.type,
    queue: job.queue,
    payload: job.payload,
    priority: job.priority ?? limits.priority.default,
    state: 'Pending',
    attempts: 0,
    idempotencyKey: job.idempotencyKey,
    tags: [...(job.tags ?? [])],
    createdBy: job.createdBy,
    modifiedBy: undefined,
    createdAtMs: nowMs,
    enqueuedAtMs: nowMs + (job.delayMs ?? 0),
    dueAtMs: nowMs + (job.delayMs ?? 0),
    owner: undefined,
    token: undefined,
    heartbeatAtMs: undefined,
    startedAtMs: undefined,
    progress: undefined,
    cancel: undefined,
    lastError: undefined,
    checkpoint: undefined,
    finishedAtMs: undefined,
    durationMs: undefined,
    reason: undefined,
    details: undefined,
  }
}
