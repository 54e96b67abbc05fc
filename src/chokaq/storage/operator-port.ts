/** What an operator does with jobs and queues. Each id is one atomic move of its own. */

import type { JobFilter } from './job-filter.js'
import type { Refused } from './worker-port.js'

export type CancelResult =
  /** It had not begun: a dead letter now (Cancelled). */
  | { readonly outcome: 'cancelled' }
  /** It runs: its worker learns of it by the next heartbeat. A handler that ends first has ended. */
  | { readonly outcome: 'requested' }
  /** No live job has the id. */
  | { readonly outcome: 'not-live' }
  | Refused

export type ResurrectResult =
  | { readonly outcome: 'resurrected' }
  | { readonly outcome: 'not-dead' }
  /** A live job has taken its idempotency key meanwhile; the dead one stays where it is. */
  | { readonly outcome: 'key-taken'; readonly by: string }
  | Refused

export type PriorityResult = { readonly outcome: 'changed' } | { readonly outcome: 'not-pending' }

export interface JobEdits {
  /** JSON text. */
  readonly payload?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly priority?: number | undefined
}

export interface QueueSettings {
  readonly paused: boolean
  /** Fetched and Processing jobs at most, among all instances; undefined: no limit. */
  readonly maxWorkers: number | undefined
  /** undefined: the caller's of `rescue`. */
  readonly zombieTimeoutMs: number | undefined
  /** Longest run; undefined: the worker's own default. */
  readonly timeoutMs: number | undefined
}

/** A queue after a change, and what it takes to put it back. */
export interface ChangedQueue {
  readonly settings: QueueSettings
  /** As they were; those of a queue without a row are no limits at all. */
  readonly before: QueueSettings
  /** Differs with each change of the queue's settings, whoever made it. */
  readonly version: string
}

/** What is absent stays as it is; null takes a limit away. */
export interface QueueChanges {
  readonly paused?: boolean | undefined
  /** 1 to 10000. */
  readonly maxWorkers?: number | null | undefined
  readonly zombieTimeoutMs?: number | null | undefined
  readonly timeoutMs?: number | null | undefined
}

export interface BulkPreview {
  /** Jobs that the filter finds. */
  readonly matched: number
  /** What would be done now: `matched`, or the cap. */
  readonly willAffect: number
  /** The first few that would be met. */
  readonly sampleIds: readonly string[]
}

export type BulkAction =
  /** Of live jobs. */
  | { readonly kind: 'cancel'; readonly reason: string }
  /** Of dead letters, unchanged. */
  | { readonly kind: 'resurrect' }
  /** Deletes dead letters for good. */
  | { readonly kind: 'purge' }

export interface BulkRequest {
  readonly action: BulkAction
  readonly filter: JobFilter
  /** Jobs at most, 1 to `bulkCap`; oldest first. */
  readonly cap: number
}

export interface BulkOrder extends BulkRequest {
  readonly by: string
  /** Only jobs behind this id: the `last` of the portion before. */
  readonly after?: string | undefined
}

export interface BulkResult {
  /** Moved, requested or deleted. */
  readonly affected: number
  /** Found, but moved on meanwhile, refused, or their key taken. */
  readonly left: number
  /** The last one that was found; undefined: there was none. */
  readonly last: string | undefined
}

/** One bulk action touches no more than this: what is larger is done in several, each looked at. */
export const bulkCap = 1_000

/**
 * With `trx` a move is made when and only when that transaction commits. What is refused is undone alone.
 *
 * @typeParam Trx the caller's transaction, where the storage has such a thing.
 */
export interface OperatorPort<Trx = never> {
  /**
   * Pending or Fetched → Cancelled at once (a later start of the worker that had fetched it is stale);
   * for Processing a request that stays until the run ends.
   */
  cancel(
    ids: readonly string[],
    by: { readonly by: string; readonly reason: string },
    trx?: Trx,
  ): Promise<readonly CancelResult[]>

  /**
   * Dead letter → Pending, due now: attempts 0, its age begins anew, edits applied, `by` on record;
   * a checkpoint stays.
   *
   * @throws ChokaqError before anything is changed where an edit breaks a limit.
   */
  resurrect(
    ids: readonly string[],
    request: { readonly by: string; readonly edits?: JobEdits | undefined },
    trx?: Trx,
  ): Promise<readonly ResurrectResult[]>

  /** Of Pending jobs only. @throws ChokaqError PRIORITY_OUT_OF_RANGE */
  setPriority(
    ids: readonly string[],
    request: { readonly by: string; readonly priority: number },
    trx?: Trx,
  ): Promise<readonly PriorityResult[]>

  previewBulk(request: BulkRequest): Promise<BulkPreview>

  /**
   * Not atomic as a whole: item by item, in small batches. With `trx` it is, and holds the rows of all of
   * them: give it a small cap.
   */
  applyBulk(order: BulkOrder, trx?: Trx): Promise<BulkResult>

  /**
   * Makes the queue's row where there is none. Lowering MaxWorkers ends no run: nothing more is
   * fetched until enough have ended. Pausing is seen by the next fetch and the next start.
   *
   * @param request with `ifVersion`, only if nobody has changed it since that version
   * @throws ChokaqError QUEUE_INVALID, QUEUE_LIMIT_INVALID, QUEUE_CHANGED
   */
  changeQueue(
    name: string,
    changes: QueueChanges,
    request: { readonly by: string; readonly ifVersion?: string | undefined },
    trx?: Trx,
  ): Promise<ChangedQueue>

  /** First values: queues that have a row already are left alone. */
  seedQueues(
    queues: readonly { readonly name: string; readonly settings: QueueChanges }[],
  ): Promise<void>
}
