/** What a worker does with the jobs it has fetched, in memory. */

import { checkPayload } from '../../jobs/check-job.js'
import type { Lease } from '../../jobs/job.js'
import { limits } from '../../jobs/limits.js'
import {
  storableDelayMs,
  storableDurationMs,
  storableProgress,
} from '../../jobs/storable-number.js'
import { storableText } from '../../jobs/storable-text.js'
import type {
  HeartbeatResult,
  MoveResult,
  RetryResult,
  StartResult,
  WorkerPort,
} from '../worker-port.js'
import { cancellationDetails } from '../cancellation-details.js'
import { begin, isActive, makeDead, makePending, refundStart } from './memory-jobs.js'
import { unlimited, type MemoryTables, type StoredJob } from './memory-tables.js'

type Items<M extends keyof WorkerPort> = Parameters<WorkerPort[M]>[0] extends readonly (infer I)[]
  ? I
  : never

const stale = { outcome: 'stale' } as const
const moved = { outcome: 'moved' } as const

/** The job, while it is this lease's. */
function held(tables: MemoryTables, lease: Lease): StoredJob | undefined {
  const job = tables.tables.hot.get(lease.jobId)
  const isHeld = job?.owner === lease.owner && job.token === lease.token && isActive(job.state)
  return isHeld ? job : undefined
}

/** The job as this lease has left it: its settlement comes for the second time. */
function left(tables: MemoryTables, lease: Lease): StoredJob | undefined {
  const job = tables.find(lease.jobId)
  if (job?.token !== lease.token || isActive(job.state)) return undefined
  return job.owner === undefined || job.owner === lease.owner ? job : undefined
}

export function start(tables: MemoryTables, lease: Lease): StartResult {
  const job = held(tables, lease)
  if (job?.state !== 'Fetched') return stale
  const { paused } = tables.queues.get(job.queue) ?? unlimited
  if (paused) return { outcome: 'paused' }
  return { outcome: 'started', ...begin(tables, job) }
}

export function heartbeat(tables: MemoryTables, beat: Items<'heartbeat'>): HeartbeatResult {
  const job = held(tables, beat.lease)
  if (job === undefined) return stale
  job.heartbeatAtMs = tables.now()
  if (beat.progress !== undefined && job.state === 'Processing') {
    job.progress = storableProgress(beat.progress)
  }
  return job.cancel === undefined
    ? { outcome: 'alive' }
    : { outcome: 'cancel-requested', ...job.cancel }
}

export function saveCheckpoint(tables: MemoryTables, lease: Lease, checkpoint: string): boolean {
  checkPayload(checkpoint, 'CHECKPOINT_INVALID')
  const job = held(tables, lease)
  if (job?.state !== 'Processing') return false
  job.checkpoint = checkpoint
  return true
}

export function succeed(tables: MemoryTables, item: Items<'succeed'>): MoveResult {
  const job = held(tables, item.lease)
  if (job?.state !== 'Processing') {
    return left(tables, item.lease)?.state === 'Succeeded' ? moved : stale
  }
  const before = job.state
  job.state = 'Succeeded'
  const durationMs = storableDurationMs(item.durationMs)
  job.durationMs = durationMs
  job.finishedAtMs = tables.now()
  tables.relocate(job, before)
  tables.metrics.count(tables.now(), { queue: job.queue, what: 'succeeded', durationMs })
  return moved
}

export function retry(tables: MemoryTables, item: Items<'retry'>): RetryResult {
  const job = held(tables, item.lease)
  if (job?.state !== 'Processing') {
    const state = left(tables, item.lease)?.state
    if (state === 'Cancelled') return { outcome: 'cancelled' }
    return state === 'Pending' ? moved : stale
  }
  if (item.refundAttempt === true) job.attempts -= 1
  job.lastError = storableText(item.error, limits.detailsLength)
  if (job.cancel !== undefined) {
    makeDead(tables, job, {
      reason: 'Cancelled',
      details: cancellationDetails(job.cancel, item.error),
    })
    return { outcome: 'cancelled' }
  }
  makePending(tables, job, tables.now() + storableDelayMs(item.delayMs))
  // An attempt that is given back was no failure, so what follows is no retry.
  if (item.refundAttempt !== true) {
    tables.metrics.count(tables.now(), { queue: job.queue, what: 'retried' })
  }
  return moved
}

export function deadLetter(tables: MemoryTables, item: Items<'deadLetter'>): MoveResult {
  const job = held(tables, item.lease)
  if (job === undefined) return left(tables, item.lease)?.reason === item.reason ? moved : stale
  if (item.refundAttempt === true) refundStart(job)
  makeDead(tables, job, item)
  return moved
}

export function giveBack(tables: MemoryTables, item: Items<'giveBack'>): RetryResult {
  const job = held(tables, item.lease)
  if (job === undefined) return left(tables, item.lease)?.state === 'Pending' ? moved : stale
  refundStart(job)
  if (job.cancel !== undefined) {
    makeDead(tables, job, { reason: 'Cancelled', details: cancellationDetails(job.cancel) })
    return { outcome: 'cancelled' }
  }
  makePending(tables, job, dueAfter(tables, job, item.delayMs))
  return moved
}

function dueAfter(tables: MemoryTables, job: StoredJob, delayMs: number | undefined): number {
  return delayMs === undefined ? job.dueAtMs : tables.now() + storableDelayMs(delayMs)
}
