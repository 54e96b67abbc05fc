/** Refuses a fetch or a rescue without sound bounds. */

import { ChokaqError } from '../errors.js'
import { checkActor } from '../jobs/check-job.js'
import type { FetchRequest } from './worker-port.js'

/** @throws ChokaqError ACTOR_INVALID, FILTER_INVALID */
export function checkFetch({ owner, limit }: FetchRequest): void {
  checkActor(owner)
  checkLimit(limit)
}

/** @throws ChokaqError FILTER_INVALID */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return
  throw new ChokaqError('FILTER_INVALID', 'The limit of one pass is 1 to 10000 jobs.')
}
