/** What an operator does with jobs and queues, in memory. */

import { checkQueueChanges, queueChanged } from '../../jobs/check-queue.js'
import { checkQueueName } from '../../jobs/check-job.js'
import { mayLeave } from '../../kernel/job-state.js'
import { cancellationDetails } from '../cancellation-details.js'
import type {
  CancelResult,
  JobEdits,
  PriorityResult,
  ChangedQueue,
  QueueChanges,
  ResurrectResult,
} from '../operator-port.js'
import { makeDead } from './memory-jobs.js'
import { unlimited, type MemoryTables } from './memory-tables.js'

export function cancel(
  tables: MemoryTables,
  id: string,
  request: { readonly by: string; readonly reason: string },
): CancelResult {
  const job = tables.tables.hot.get(id)
  if (job === undefined) return { outcome: 'not-live' }
  if (job.state === 'Processing') {
    // The first to ask is the one on record.
    job.cancel ??= request
    return { outcome: 'requested' }
  }
  makeDead(tables, job, { reason: 'Cancelled', details: cancellationDetails(request) })
  return { outcome: 'cancelled' }
}

export function resurrect(
  tables: MemoryTables,
  id: string,
  request: { readonly by: string; readonly edits?: JobEdits | undefined },
): ResurrectResult {
  const job = tables.tables.dlq.get(id)
  if (job === undefined || !mayLeave('resurrect', job.state)) return { outcome: 'not-dead' }
  const key = job.idempotencyKey
  const live = key === undefined ? undefined : tables.liveKeys.get(key)
  if (live !== undefined) return { outcome: 'key-taken', by: live }
  const before = job.state
  const { payload, tags, priority } = request.edits ?? {}
  Object.assign(job, {
    state: 'Pending',
    attempts: 0,
    payload: payload ?? job.payload,
    tags: [...(tags ?? job.tags)],
    priority: priority ?? job.priority,
    modifiedBy: request.by,
    enqueuedAtMs: tables.now(),
    dueAtMs: tables.now(),
    owner: undefined,
    token: undefined,
    heartbeatAtMs: undefined,
    startedAtMs: undefined,
    progress: undefined,
    cancel: undefined,
    lastError: undefined,
    finishedAtMs: undefined,
    durationMs: undefined,
    reason: undefined,
    details: undefined,
  } satisfies Partial<typeof job>)
  tables.relocate(job, before)
  return { outcome: 'resurrected' }
}

export function setPriority(
  tables: MemoryTables,
  id: string,
  request: { readonly by: string; readonly priority: number },
): PriorityResult {
  const job = tables.tables.hot.get(id)
  if (job?.state !== 'Pending') return { outcome: 'not-pending' }
  job.priority = request.priority
  job.modifiedBy = request.by
  return { outcome: 'changed' }
}

export function changeQueue(
  tables: MemoryTables,
  name: string,
  changes: QueueChanges,
  ifVersion?: string,
): ChangedQueue {
  checkQueueName(name)
  checkQueueChanges(changes)
  const { queues, queueVersions } = tables
  if (ifVersion !== undefined && ifVersion !== String(queueVersions.get(name)))
    throw queueChanged(name)
  const current = queues.get(name) ?? unlimited
  const chosen = (change: number | null | undefined, now: number | undefined) =>
    change === undefined ? now : (change ?? undefined)
  const settings = {
    paused: changes.paused ?? current.paused,
    maxWorkers: chosen(changes.maxWorkers, current.maxWorkers),
    zombieTimeoutMs: chosen(changes.zombieTimeoutMs, current.zombieTimeoutMs),
    timeoutMs: chosen(changes.timeoutMs, current.timeoutMs),
  }
  const version = (queueVersions.get(name) ?? 0) + 1
  queues.set(name, settings)
  queueVersions.set(name, version)
  return { settings, before: current, version: String(version) }
}

export function seedQueues(
  tables: MemoryTables,
  queues: readonly { readonly name: string; readonly settings: QueueChanges }[],
): void {
  for (const { name, settings } of queues) {
    if (tables.queues.has(name)) checkQueueName(name)
    else changeQueue(tables, name, settings)
  }
}
