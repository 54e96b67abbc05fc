/** Which deals a request means, and how many it may mean. */

import { AppError } from '../../errors.js'
import { readTargets } from '../../operations/jobs/job-payloads.js'
import type { Targets } from '../../operations/provision-command.js'
import { isEmptyFilter } from '../../operations/provision-filter.js'
import type { BulkBody } from './schemas/inputs.js'

/** Some milliseconds each, so that it ends well within the request's time. */
export const atOnceAtMost = 500
/** Far more than are active at a time; whoever means more has forgotten a condition. */
const byJobAtMost = 100_000

/** @throws AppError INPUT_INVALID, or TOO_MANY where more deals are given than are done at once */
export function targetsOf({ dealIds, filter }: BulkBody): Targets {
  if ((dealIds === undefined) === (filter === undefined)) {
    throw new AppError('INPUT_INVALID', 'Give either dealIds or filter, not both and not neither.')
  }
  const targets = readTargets({ dealIds, filter })
  if ('filter' in targets && isEmptyFilter(targets.filter)) {
    throw new AppError(
      'INPUT_INVALID',
      'An empty filter means every deal: name poison, status, error, tenant or olderThan.',
    )
  }
  if ('dealIds' in targets && targets.dealIds.length > atOnceAtMost) {
    throw new AppError(
      'TOO_MANY',
      `These are ${targets.dealIds.length} deals, and at most ${atOnceAtMost} are done at once. ` +
        'Give fewer, or a filter: that is done by a job.',
    )
  }
  return targets
}

/** @throws AppError TOO_MANY */
export function refuseTooMany(matched: number): void {
  if (matched <= byJobAtMost) return
  throw new AppError(
    'TOO_MANY',
    `This means ${matched} deals, and at most ${byJobAtMost} are done by one job. Narrow the filter.`,
  )
}
