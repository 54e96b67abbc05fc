/** How jobs are chosen, for lists and for bulk actions. All that is given must hold. */

import type { FailureReason } from '../kernel/failure.js'
import type { JobState, Place } from '../kernel/job-state.js'

export interface JobFilter {
  /** Only states of the place that is looked at; others find nothing. */
  readonly states?: readonly JobState[] | undefined
  readonly queue?: string | undefined
  readonly type?: string | undefined
  /** One of the job's tags. */
  readonly tag?: string | undefined
  readonly createdBy?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** Dead letters only. */
  readonly reasons?: readonly FailureReason[] | undefined
  /** Part of the last error or of the details, whatever the case of its letters. */
  readonly errorContains?: string | undefined
  readonly createdAfterMs?: number | undefined
  readonly createdBeforeMs?: number | undefined
  /** Archive and dead letters only. */
  readonly finishedAfterMs?: number | undefined
  readonly finishedBeforeMs?: number | undefined
}

export interface JobQuery {
  /** hot: newest first. archive, dlq: latest finished first. */
  readonly place: Place
  readonly filter?: JobFilter | undefined
  /** 1 to 500. */
  readonly limit: number
  /** Of the page before; opaque. */
  readonly cursor?: string | undefined
}
