/** What the core asks of its host: a log, metrics, listeners. Small, so that any host can bring its own. */

import type { FailureReason } from './kernel/failure.js'
import type { JobState, MoveName } from './kernel/job-state.js'

/** As pino has it. */
export type CoreLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
>

export interface JobLabels {
  readonly queue: string
  readonly type: string
}

/** Counted where the move was made, never for one that came too late. */
export interface CoreMetrics {
  enqueued(job: JobLabels): void
  succeeded(job: JobLabels, durationSeconds: number): void
  /** It became a dead letter. */
  failed(job: JobLabels, reason: FailureReason): void
  retried(job: JobLabels): void
  /** A move came too late: the job was no longer this worker's. */
  stateConflict(job: JobLabels, move: MoveName): void
}

/**
 * Says that something a page may show is out of date, no more: whoever listens reads anew. Only
 * changes that were made are told.
 */
export type CoreEvent =
  | {
      readonly kind: 'job'
      readonly id: string
      readonly queue: string
      /** Undefined where the change was one within a state (priority, progress, a wish to cancel). */
      readonly state: JobState | undefined
    }
  | { readonly kind: 'queue'; readonly queue: string }
  /** Too many jobs at once to name them. */
  | { readonly kind: 'jobs' }

export interface CoreEvents {
  emit(event: CoreEvent): void
  /** The returned function ends it. */
  subscribe(listener: (event: CoreEvent) => void): () => void
}

/** Milliseconds that only ever rise, as `performance.now`. */
export type MonotonicClock = () => number
