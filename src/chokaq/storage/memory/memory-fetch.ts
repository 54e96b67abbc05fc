/** Which jobs are next, in memory, and which a fetch has lost. */

import { checkFetch } from '../check-fetch.js'
import type { FetchedJob } from '../../jobs/job.js'
import type { FetchRequest, LostJob } from '../worker-port.js'
import { begin, isActive, takeBack } from './memory-jobs.js'
import { compare } from './memory-metrics.js'
import { unlimited, type MemoryTables, type StoredJob } from './memory-tables.js'

export function fetch(tables: MemoryTables, request: FetchRequest): readonly FetchedJob[] {
  checkFetch(request)
  const now = tables.now()
  const room = roomByQueue(tables)
  const due = [...tables.tables.hot.values()]
    .filter(({ state, dueAtMs, queue }) => state === 'Pending' && dueAtMs <= now && room(queue) > 0)
    .filter(({ queue }) => request.queues?.includes(queue) ?? true)
    .sort(byTurn)
  const taken = new Map<string, number>()
  const picked: StoredJob[] = []
  for (const job of due) {
    if (picked.length >= request.limit) break
    const already = taken.get(job.queue) ?? 0
    if (already >= room(job.queue)) continue
    taken.set(job.queue, already + 1)
    picked.push(job)
  }
  return picked.map((job) => take(tables, job, request, now))
}

export function giveBackLost(
  tables: MemoryTables,
  { owner, held }: { readonly owner: string; readonly held: readonly number[] },
): readonly LostJob[] {
  const known = new Set(held)
  const lost = [...tables.tables.hot.values()].filter(
    (job) => job.owner === owner && !known.has(job.token ?? NaN) && job.cancel === undefined,
  )
  for (const job of lost) takeBack(tables, job)
  return lost.map(({ id, type, queue }) => ({ id, type, queue }))
}

function byTurn(a: StoredJob, b: StoredJob): number {
  return b.priority - a.priority || a.dueAtMs - b.dueAtMs || compare(a.id, b.id)
}

/** How many more of a queue may be active; 0 while it is paused. */
function roomByQueue(tables: MemoryTables): (queue: string) => number {
  const active = new Map<string, number>()
  for (const { state, queue } of tables.tables.hot.values()) {
    if (isActive(state)) active.set(queue, (active.get(queue) ?? 0) + 1)
  }
  return (queue) => {
    const { paused, maxWorkers } = tables.queues.get(queue) ?? unlimited
    if (paused) return 0
    return (maxWorkers ?? Infinity) - (active.get(queue) ?? 0)
  }
}

function take(
  tables: MemoryTables,
  job: StoredJob,
  { owner, start }: FetchRequest,
  now: number,
): FetchedJob {
  const token = tables.nextToken()
  const { attempts } = job
  job.state = 'Fetched'
  job.owner = owner
  job.token = token
  job.heartbeatAtMs = now
  const started = start === true ? begin(tables, job) : undefined
  return {
    lease: { jobId: job.id, owner, token },
    type: job.type,
    queue: job.queue,
    payload: job.payload,
    priority: job.priority,
    attempts,
    started,
    idempotencyKey: job.idempotencyKey,
    tags: [...job.tags],
    createdBy: job.createdBy,
    ageMs: now - job.enqueuedAtMs,
    lagMs: now - job.dueAtMs,
    checkpoint: job.checkpoint,
  }
}
