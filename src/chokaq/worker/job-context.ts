/** What a handler gets to know of its job, and what it may say. */

import type { Lease } from '../jobs/job.js'
import type { CoreLog } from '../ports.js'

/** @typeParam T the payload, as the schema gives it */
export interface JobContext<T = unknown> {
  readonly id: string
  readonly typeKey: string
  readonly queue: string
  /** 1 in the first run. */
  readonly attempt: number
  readonly payload: T
  readonly tags: readonly string[]
  readonly createdBy: string | undefined
  readonly idempotencyKey: string | undefined
  /** Aborted with a JobAbortedError, whose reason is shutdown, timeout, admin or heartbeat. */
  readonly signal: AbortSignal
  /** Carries id, type and attempt. */
  readonly log: CoreLog
  /** Its token rises with every fetch: hand it to systems that fence off late writers. */
  readonly lease: Lease
  /** 0 to 100; stored with the next heartbeat. */
  readonly progress: (percent: number) => void
  /** What an earlier run of this job has left; undefined where none has. */
  readonly checkpoint: unknown
  /**
   * Leaves a JSON value for later runs of this job: how far the work has come. With `trx` it is stored
   * when and only when that transaction commits, together with the work that it speaks of.
   *
   * @param trx a transaction of the storage's kind
   * @throws JobAbortedError heartbeat, where the job is no longer this worker's: roll back and end
   */
  readonly saveCheckpoint: (value: unknown, trx?: unknown) => Promise<void>
}
