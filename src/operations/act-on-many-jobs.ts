/**
 * What operators do to all jobs of a filter: cancel live ones, bring dead letters back. Job by job, the
 * oldest first and no more than the core's cap, with one line in the audit for all of them.
 */

import { bulkCap, type BulkAction, type BulkPreview } from '../chokaq/index.js'
import { appendOverall } from './audit-trail.js'
import type { JobsContext } from './act-on-jobs.js'
import { filterOf, type JobsFilter } from './list-jobs.js'
import type { Order } from './read-input.js'

export type ManyJobsAction = 'cancel' | 'resurrect'

/** Where the jobs are that it is for. */
export const placeOfAction = { cancel: 'hot', resurrect: 'dlq' } as const

/** @throws ChokaqError FILTER_INVALID; AppError INPUT_INVALID where no job of that state can be there */
export function previewManyJobs(
  { moves }: JobsContext,
  action: ManyJobsAction,
  filter: JobsFilter,
): Promise<BulkPreview> {
  return moves.previewBulk({
    // A preview has no reason yet.
    action: bulkActionOf(action, ''),
    filter: filterOf({ ...filter, place: placeOfAction[action] }),
    cap: bulkCap,
  })
}

export interface ManyJobsResult {
  readonly affected: number
  /** Found, but moved on meanwhile, refused, or their idempotency key taken. */
  readonly left: number
}

/** @throws as previewManyJobs does */
export async function actOnManyJobs(
  { db, moves }: JobsContext,
  action: ManyJobsAction,
  filter: JobsFilter,
  order: Order,
): Promise<ManyJobsResult> {
  const result = await moves.applyBulk({
    action: bulkActionOf(action, order.reason),
    filter: filterOf({ ...filter, place: placeOfAction[action] }),
    cap: bulkCap,
    by: order.by,
  })
  if (result.affected > 0) {
    const entry = { action: `job-${action}`, order, filter: describeJobs(action, filter) } as const
    await appendOverall(db, entry, result.affected)
  }
  return result
}

function bulkActionOf(action: ManyJobsAction, reason: string): BulkAction {
  return action === 'cancel' ? { kind: 'cancel', reason } : { kind: 'resurrect' }
}

/** As the audit keeps it. */
export function describeJobs(action: ManyJobsAction, filter: JobsFilter): string {
  const { state, queue, type, error } = filter
  const parts = { place: placeOfAction[action], state, queue, type, error }
  return Object.entries(parts)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join(' ')
}
