/** Ids of jobs: ULIDs, so that they sort by the moment of their making and never need a round trip. */

import { monotonicFactory } from 'ulid'

export type NewJobId = () => string

/**
 * Ids that rise within this process, also within one millisecond. Their time is the host's clock, which
 * only the order in lists depends on; whatever decides over a job is the storage's clock.
 */
export function createJobIds(): NewJobId {
  const next = monotonicFactory()
  return () => next()
}
