/** How jobs are chosen, for lists and for bulk actions. All that is given must hold. */

import type { FailureReason } from '../kernel/failure.js'
import type { JobState, Place } from '../kernel/job-state.js'

export interface JobFilter {
  /** Only states of the place that is looked at; others find nothing. */
  readonly states?: readonly JobState[]
  readonly queue?: string
  readonly type?: string
  /** One of the job's tags. */
  readonly tag?: string
  readonly createdBy?: string
  readonly idempotencyKey?: string
  /** Dead letters only. */
  readonly reasons?: readonly FailureReason[]
  /** Part of the last error or of the details, whatever the case of its letters. */
  readonly errorContains?: string
  readonly createdAfterMs?: number
  readonly createdBeforeMs?: number
  /** Archive and dead letters only. */
  readonly finishedAfterMs?: number
  readonly finishedBeforeMs?: number
}

export interface JobQuery {
  /** hot: newest first. archive, dlq: latest finished first. */
  readonly place: Place
  readonly filter?: JobFilter
  /** 1 to 500. */
  readonly limit: number
  /** Of the page before; opaque. */
  readonly cursor?: string
}
