/**
 * What a worker does with jobs: fetch, start, keep alive, settle.
 *
 * Each item of a batch is one atomic move of its own: one that is stale or refused leaves the others
 * untouched. Answers come in the order of the items. A call that throws has met trouble with the
 * storage itself (connection lost, …): some of its moves may have been made. Settling once more is
 * safe then: a move that this lease has already made answers `moved` again and counts nothing twice.
 */

import type { FetchedJob, Lease, StartedRun } from '../jobs/job.js'
import type { FailureReason } from '../kernel/failure.js'

/** Not this lease's to move: settled, taken away, given to another. Nothing was changed. */
export interface Stale {
  readonly outcome: 'stale'
}

/** The storage refused this one item (a constraint, a trigger): it is as before. */
export interface Refused {
  readonly outcome: 'refused'
  readonly error: unknown
}

export type MoveResult = { readonly outcome: 'moved' } | Stale | Refused

export type StartResult =
  | ({ readonly outcome: 'started' } & StartedRun)
  /** The queue was paused after the fetch: the job is still Fetched, give it back. */
  | { readonly outcome: 'paused' }
  | Stale
  | Refused

export type HeartbeatResult =
  | { readonly outcome: 'alive' }
  /** Alive, but an operator wants it ended: abort the handler, then `deadLetter` as Cancelled. */
  | { readonly outcome: 'cancel-requested'; readonly by: string; readonly reason: string }
  | Stale

export type RetryResult =
  | MoveResult
  /** An operator had asked for its end: it is a dead letter (Cancelled) instead. */
  | { readonly outcome: 'cancelled' }

export interface FetchRequest {
  /** Of this worker's life: unique among all that share the storage, at most 128 characters. */
  readonly owner: string
  /** Jobs at most, ≥ 1. */
  readonly limit: number
  /** Only from these queues; all, where nothing is said. */
  readonly queues?: readonly string[] | undefined
  /**
   * Starts them in the same move (Pending → Processing, see `start`), for a worker that runs them at once.
   * Where the storage refuses that on account of one of them, all are only fetched.
   */
  readonly start?: boolean | undefined
}

export interface LostJob {
  readonly id: string
  readonly type: string
  readonly queue: string
}

/** @typeParam Trx the caller's transaction, where the storage has such a thing. */
export interface WorkerPort<Trx = never> {
  /**
   * Takes up to `limit` due jobs (Pending → Fetched): by priority, then the longest due, then id,
   * across all queues. Jobs of paused queues are not seen. Of a queue with MaxWorkers never so many
   * that more than that are Fetched or Processing among all owners, also with fetchers at once (one
   * of them may then get fewer than there would be room for); a full queue takes no place from the
   * others. Burns no attempt, unless it is to start them.
   */
  fetch(request: FetchRequest): Promise<readonly FetchedJob[]>

  /** Fetched → Processing; burns an attempt and begins the heartbeat. The gate before any handler. */
  start(leases: readonly Lease[]): Promise<readonly StartResult[]>

  /**
   * Says that the owner lives and has these jobs, Fetched or Processing, and stores their progress
   * (0 to 100, where given). `stale` means that the job is no longer the owner's: abort it.
   */
  heartbeat(
    beats: readonly { readonly lease: Lease; readonly progress?: number | undefined }[],
  ): Promise<readonly HeartbeatResult[]>

  /**
   * Leaves a JSON text with a job that is Processing, for later runs of the same job, a resurrected
   * one's too. With `trx` it is stored when and only when the caller's transaction commits, together
   * with the work that it speaks of, and the job stays this lease's until then.
   *
   * False: stale, nothing stored; the caller rolls its transaction back, for the work is another's now.
   *
   * @throws ChokaqError CHECKPOINT_INVALID where it is no JSON or larger than a payload may be.
   */
  saveCheckpoint(lease: Lease, checkpoint: string, trx?: Trx): Promise<boolean>

  /** Processing → Succeeded, into the archive. `durationMs` ≥ 0, of this run. */
  succeed(
    items: readonly { readonly lease: Lease; readonly durationMs: number }[],
  ): Promise<readonly MoveResult[]>

  /**
   * Processing → Pending, due after `delayMs`. The attempt stays burnt unless `refundAttempt` says
   * that the run was ended from outside (shutdown), and not by its own failure.
   */
  retry(
    items: readonly {
      readonly lease: Lease
      readonly delayMs: number
      readonly error: string
      readonly refundAttempt?: boolean | undefined
    }[],
  ): Promise<readonly RetryResult[]>

  /**
   * Fetched or Processing → Failed, or Cancelled where that is the reason. `details` is the failure in
   * full; what can't be stored is cleaned and the rest cut at `limits.detailsLength`.
   */
  deadLetter(
    items: readonly {
      readonly lease: Lease
      readonly reason: Exclude<FailureReason, 'Zombie'>
      readonly details: string
      /** Of this run, where one had begun. */
      readonly durationMs?: number | undefined
      /** Its handler has not begun: the attempt of its start is given back. */
      readonly refundAttempt?: boolean | undefined
    }[],
  ): Promise<readonly MoveResult[]>

  /**
   * Fetched → Pending, and Processing → Pending where the handler has not begun, the attempt of its start
   * given back; due after `delayMs` (an open circuit), else as it was. One that an operator wanted
   * cancelled is a dead letter instead, and stale when that is asked for again.
   */
  giveBack(
    items: readonly { readonly lease: Lease; readonly delayMs?: number | undefined }[],
  ): Promise<readonly RetryResult[]>

  /**
   * Fetched or Processing → Pending, no attempt burnt, for every job that this owner has by the storage's
   * word and not by its own: `held` are the tokens of the leases that it knows. So a fetch whose answer was
   * lost leaves nothing behind. One that an operator wants cancelled is left to the rescue. Not to be
   * called while a fetch of the same owner is under way.
   */
  giveBackLost(request: {
    readonly owner: string
    readonly held: readonly number[]
  }): Promise<readonly LostJob[]>

  /**
   * The newest archived job of this type and idempotency key: the memory of what is done that
   * outlasts the hot table, as long as the archive is kept.
   */
  findSucceeded(type: string, idempotencyKey: string): Promise<{ readonly id: string } | undefined>
}
