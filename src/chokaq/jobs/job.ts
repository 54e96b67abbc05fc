/** A job as callers hand it in, as a worker holds it, and as a reader sees it. Times are milliseconds
 *  since the epoch by the storage's clock (the database's); payloads are JSON texts. */

import type { FailureReason } from '../kernel/failure.js'
import type { DeadState, HotState, JobState, Place } from '../kernel/job-state.js'

/** What is enqueued. Limits: `limits.ts`. */
export interface NewJob {
  /** Semantic and versioned, such as `provision.requeue.v1`: it outlives the code. */
  readonly type: string
  readonly queue: string
  /** JSON text. */
  readonly payload: string
  /** 0 to 100, higher first; 10 where nothing is said. */
  readonly priority?: number | undefined
  /** Milliseconds, ≥ 0, from the storage's now until the job may be fetched. */
  readonly delayMs?: number | undefined
  /** At most one live job has it; a second one is not enqueued, and the first one's id returned. */
  readonly idempotencyKey?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly createdBy?: string | undefined
}

/**
 * The right to move one job, handed out by a fetch. Every later move of the worker's names it whole,
 * and is stale when the job has been given to somebody else since: even to the same worker.
 */
export interface Lease {
  readonly jobId: string
  readonly owner: string
  /** Rises with every fetch of any job: a fencing token that handlers may pass on. */
  readonly token: number
}

/** A run that the storage has granted to a lease. */
export interface StartedRun {
  /** Runs begun, this one among them, ≥ 1. */
  readonly attempt: number
  /** The queue's limit for one run; undefined where it has none. */
  readonly timeoutMs: number | undefined
  /** The queue's own silence after which a job is dead; undefined where it has none. */
  readonly zombieTimeoutMs: number | undefined
}

/** What a worker needs to run a job; state Fetched, or Processing where `started` is there. */
export interface FetchedJob {
  readonly lease: Lease
  readonly type: string
  readonly queue: string
  readonly payload: string
  readonly priority: number
  /** Runs begun before the one that it was fetched for. */
  readonly attempts: number
  /** Where the fetch has started it, too. */
  readonly started: StartedRun | undefined
  readonly idempotencyKey: string | undefined
  readonly tags: readonly string[]
  readonly createdBy: string | undefined
  /** Since it was first due, or resurrected, at the moment of the fetch: a delay is no age. */
  readonly ageMs: number
  /** Since it became due, at the moment of the fetch: how long it has waited for a worker. */
  readonly lagMs: number
  /** JSON text that an earlier run of the same job has left (`saveCheckpoint`). */
  readonly checkpoint: string | undefined
}

interface RecordBase {
  readonly id: string
  readonly type: string
  readonly queue: string
  readonly payload: string
  readonly priority: number
  /** Runs begun. */
  readonly attempts: number
  readonly idempotencyKey: string | undefined
  readonly tags: readonly string[]
  readonly createdBy: string | undefined
  readonly createdAtMs: number
  /** Of the last run. */
  readonly startedAtMs: number | undefined
  /** Its present owner, or the last one. */
  readonly owner: string | undefined
  /** Who last changed it by hand (priority, resurrection). */
  readonly modifiedBy: string | undefined
  readonly checkpoint: string | undefined
}

export interface HotJob extends RecordBase {
  readonly place: Extract<Place, 'hot'>
  readonly state: HotState
  readonly dueAtMs: number
  readonly heartbeatAtMs: number | undefined
  /** 0 to 100, as the handler has last reported; undefined before it does. */
  readonly progress: number | undefined
  readonly cancelRequestedBy: string | undefined
  /** Of the last run that is to be repeated. */
  readonly lastError: string | undefined
}

export interface ArchivedJob extends RecordBase {
  readonly place: Extract<Place, 'archive'>
  readonly state: Extract<JobState, 'Succeeded'>
  readonly finishedAtMs: number
  /** Of the run that succeeded. */
  readonly durationMs: number
}

export interface DeadJob extends RecordBase {
  readonly place: Extract<Place, 'dlq'>
  readonly state: DeadState
  readonly finishedAtMs: number
  readonly reason: FailureReason
  /** The failure in full: message, stack, causes; cleaned of what can't be stored. */
  readonly details: string
}

export type JobRecord = HotJob | ArchivedJob | DeadJob
