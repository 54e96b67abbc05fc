/** Putting jobs in. */

import type { NewJob } from '../jobs/job.js'

export interface Enqueued {
  /** ULID. Of the live job that had the idempotency key already, where `created` is false. */
  readonly id: string
  readonly created: boolean
}

/** @typeParam Trx the caller's transaction, where the storage has such a thing. */
export interface EnqueuePort<Trx> {
  /**
   * Stores the jobs as Pending, all or none, and answers in the order given. With `trx` they exist
   * when and only when the caller's transaction commits.
   *
   * A job whose idempotency key a live job has (one of this very call, too) is not stored again: the
   * live one's id is returned, in races as well. Against a caller's transaction that has taken the
   * same key and is not over yet this waits for its end, whichever way it goes. The key is free again
   * as soon as its job has left the hot table.
   *
   * @throws ChokaqError before anything is stored where a job breaks a limit (`jobs/limits.ts`),
   *   and STORAGE_FULL in memory.
   */
  enqueue(jobs: readonly NewJob[], trx?: Trx): Promise<readonly Enqueued[]>
}
