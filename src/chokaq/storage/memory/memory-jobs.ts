/** Moves that every part of the in-memory storage makes, and how a stored job is shown. */

import type { DeadJob, JobRecord, StartedRun } from '../../jobs/job.js'
import type { FailureReason } from '../../kernel/failure.js'
import { placeOf, type DeadState, type HotState, type JobState } from '../../kernel/job-state.js'
import { limits } from '../../jobs/limits.js'
import { storableText } from '../../jobs/storable-text.js'
import { unlimited, type MemoryTables, type StoredJob } from './memory-tables.js'

/** Fetched → Processing. */
export function begin(tables: MemoryTables, job: StoredJob): StartedRun {
  const { timeoutMs, zombieTimeoutMs } = tables.queues.get(job.queue) ?? unlimited
  job.state = 'Processing'
  job.attempts += 1
  job.startedAtMs = tables.now()
  job.heartbeatAtMs = tables.now()
  return { attempt: job.attempts, timeoutMs, zombieTimeoutMs }
}

/** The attempt of a start whose handler has not begun. */
export function refundStart(job: StoredJob): void {
  if (job.state === 'Processing') job.attempts -= 1
}

/** Back into the queue; due at `dueAtMs`. */
export function makePending(tables: MemoryTables, job: StoredJob, dueAtMs: number): void {
  const before = job.state
  job.state = 'Pending'
  job.dueAtMs = dueAtMs
  job.owner = undefined
  job.heartbeatAtMs = undefined
  job.progress = undefined
  tables.relocate(job, before)
}

/** From its owner who has not run it: the lease is over for good, what it says from now on is stale. */
export function takeBack(tables: MemoryTables, job: StoredJob): void {
  refundStart(job)
  makePending(tables, job, job.dueAtMs)
  job.token = undefined
}

export interface Death {
  readonly reason: FailureReason
  readonly details: string
  readonly durationMs?: number | undefined
}

/** To the dead letters, in the state that belongs to the reason. */
export function makeDead(tables: MemoryTables, job: StoredJob, death: Death): void {
  const before = job.state
  job.state = stateOfReason(death.reason)
  job.reason = death.reason
  job.details = storableText(death.details, limits.detailsLength)
  job.durationMs = death.durationMs
  job.finishedAtMs = tables.now()
  tables.relocate(job, before)
  tables.metrics.count(tables.now(), { queue: job.queue, what: 'failed' })
}

export function stateOfReason(reason: FailureReason): DeadState {
  if (reason === 'Cancelled') return 'Cancelled'
  return reason === 'Zombie' ? 'Zombie' : 'Failed'
}

/** Fetched or Processing: holds one of its queue's workers. */
export function isActive(state: JobState): boolean {
  return state === 'Fetched' || state === 'Processing'
}

export function toRecord(job: StoredJob): JobRecord {
  const common = {
    id: job.id,
    type: job.type,
    queue: job.queue,
    payload: job.payload,
    priority: job.priority,
    attempts: job.attempts,
    idempotencyKey: job.idempotencyKey,
    tags: [...job.tags],
    createdBy: job.createdBy,
    createdAtMs: job.createdAtMs,
    startedAtMs: job.startedAtMs,
    owner: job.owner,
    modifiedBy: job.modifiedBy,
    checkpoint: job.checkpoint,
  }
  const place = placeOf(job.state)
  if (place === 'hot') {
    return {
      ...common,
      place,
      state: job.state as HotState,
      dueAtMs: job.dueAtMs,
      heartbeatAtMs: job.heartbeatAtMs,
      progress: job.progress,
      cancelRequestedBy: job.cancel?.by,
      lastError: job.lastError,
    }
  }
  const finishedAtMs = present(job.finishedAtMs)
  if (place === 'archive') {
    const durationMs = present(job.durationMs)
    return { ...common, place, state: 'Succeeded', finishedAtMs, durationMs }
  }
  return {
    ...common,
    place,
    state: job.state as DeadJob['state'],
    finishedAtMs,
    reason: present(job.reason),
    details: present(job.details),
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a finished job without its end')
  return value
}
