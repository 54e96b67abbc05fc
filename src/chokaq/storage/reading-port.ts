/** What pages, metrics and the command line read. */

import type { JobRecord } from '../jobs/job.js'
import type { JobQuery } from './job-filter.js'
import type { QueueSettings } from './operator-port.js'

export interface JobPage {
  readonly items: readonly JobRecord[]
  /** undefined: this was the last page. A job that moves meanwhile may be missed, never shown twice. */
  readonly nextCursor: string | undefined
}

export interface QueueStatus {
  readonly name: string
  readonly settings: QueueSettings
  /** Pending and due. */
  readonly due: number
  /** Pending, not due yet. */
  readonly scheduled: number
  readonly fetched: number
  readonly processing: number
  readonly dead: number
  /** Seconds since the longest due Pending job became due; 0 where none is due. */
  readonly lagSeconds: number
}

/** Counts since the beginning, whatever has been pruned since. */
export interface Totals {
  readonly queue: string
  readonly succeeded: number
  /** Dead letters of every kind, resurrected ones among them. */
  readonly failed: number
  readonly retried: number
}

/** What ended within one second, or a wider step, in one queue. */
export interface MetricBucket {
  /** Where it begins, as milliseconds since the epoch. */
  readonly atMs: number
  readonly queue: string
  readonly succeeded: number
  readonly failed: number
  readonly retried: number
  /** Sum of the runs that succeeded. */
  readonly durationMs: number
}

/** @typeParam Trx the caller's transaction, where the storage has such a thing. */
export interface ReadingPort<Trx = never> {
  /** From whichever table has it. */
  findJob(id: string, trx?: Trx): Promise<JobRecord | undefined>

  /** @throws ChokaqError CURSOR_INVALID, FILTER_INVALID */
  listJobs(query: JobQuery): Promise<JobPage>

  /** Every queue that has a row, a live job or a dead letter, by name. */
  listQueues(): Promise<readonly QueueStatus[]>

  /** By queue name; only queues where something has ended. */
  totals(): Promise<readonly Totals[]>

  /**
   * The buckets of the last `windowMs`, by time and queue; those in which nothing ended are absent.
   *
   * @param stepMs whole seconds, 1000 where nothing is said: the seconds of one step are summed up
   */
  metricBuckets(windowMs: number, stepMs?: number): Promise<readonly MetricBucket[]>

  /** The storage's clock, milliseconds since the epoch. */
  now(): Promise<number>
}
