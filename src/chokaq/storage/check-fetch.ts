/** Refuses a fetch or a rescue without sound bounds. */

import { ChokaqError } from '../errors.js'
import { checkActor } from '../jobs/check-job.js'
import { limits } from '../jobs/limits.js'
import type { FetchRequest } from './worker-port.js'

/** @throws ChokaqError ACTOR_INVALID, FILTER_INVALID */
export function checkFetch({ owner, limit }: FetchRequest): void {
  checkActor(owner)
  checkLimit(limit)
}

/** @throws ChokaqError FILTER_INVALID */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.fetchJobs) return
  throw new ChokaqError('FILTER_INVALID', `The limit of one pass is 1 to ${limits.fetchJobs} jobs.`)
}
