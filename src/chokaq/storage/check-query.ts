/** Refuses lists and bulk actions without sound bounds. */

import { ChokaqError } from '../errors.js'
import { checkActor } from '../jobs/check-job.js'
import type { JobFilter, JobQuery } from './job-filter.js'
import { bulkCap, type BulkRequest } from './operator-port.js'

/** A page longer than this is nobody's to read. */
const pageLimit = 500

/** @throws ChokaqError FILTER_INVALID */
export function checkQuery(query: JobQuery): void {
  checkCount('The length of a page', query.limit, pageLimit)
  checkFilter(query.filter ?? {})
}

/** @throws ChokaqError FILTER_INVALID, ACTOR_INVALID */
export function checkBulk(request: BulkRequest, by?: string): void {
  checkCount('The cap of a bulk action', request.cap, bulkCap)
  checkFilter(request.filter)
  if (by !== undefined) checkActor(by)
}

function checkCount(what: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return
  throw new ChokaqError('FILTER_INVALID', `${what} is a whole number from 1 to ${max}.`)
}

function checkFilter(filter: JobFilter): void {
  const { createdAfterMs, createdBeforeMs, finishedAfterMs, finishedBeforeMs } = filter
  for (const time of [createdAfterMs, createdBeforeMs, finishedAfterMs, finishedBeforeMs]) {
    // Up to the year 9999, which PostgreSQL and JavaScript both know.
    if (time === undefined || (time >= 0 && time < 253_402_300_800_000)) continue
    throw new ChokaqError('FILTER_INVALID', 'Times are milliseconds since 1970, up to year 9999.')
  }
}
