/**
 * What operators do to all jobs of a filter: cancel live ones, bring dead letters back. The oldest first and
 * no more than the core's cap, in portions that each commit together with their line in the audit.
 */

import { bulkCap, type BulkAction, type BulkPreview } from '../chokaq/index.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import { appendOverall, type AuditEntry } from './audit-trail.js'
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

/** Moved by one statement of milliseconds, so that no worker waits long for their rows and their counters. */
const portionAtMost = 100

/** @throws as previewManyJobs does */
export async function actOnManyJobs(
  { db, moves }: JobsContext,
  action: ManyJobsAction,
  filter: JobsFilter,
  { by, reason }: Order,
): Promise<ManyJobsResult> {
  const bulk = {
    action: bulkActionOf(action, reason),
    filter: filterOf({ ...filter, place: placeOfAction[action] }),
    by,
  }
  // Without the id of the request, which but one line may have: a further try of it finds what is left.
  const entry: AuditEntry = {
    action: `job-${action}`,
    order: { by, reason },
    filter: describeJobs(action, filter),
  }
  let [affected, left] = [0, 0]
  for (let after: string | undefined; affected + left < bulkCap;) {
    const cap = Math.min(portionAtMost, bulkCap - affected - left)
    const portion = await inRowTransaction(db, async (trx) => {
      const moved = await moves.applyBulk({ ...bulk, cap, after }, trx)
      if (moved.affected > 0) await appendOverall(trx, entry, moved.affected)
      return moved
    })
    if (portion.last === undefined) break
    // It is done: that nobody is told at once takes nothing from it.
    if (portion.affected > 0) await moves.announce('jobs').catch(() => undefined)
    affected += portion.affected
    left += portion.left
    after = portion.last
  }
  return { affected, left }
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
