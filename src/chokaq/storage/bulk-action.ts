/** Bulk actions, the same on every storage: find some, do them in small batches, count what came of it. */

import type { Place } from '../kernel/job-state.js'
import type { JobFilter } from './job-filter.js'
import type {
  BulkAction,
  BulkOrder,
  BulkPreview,
  BulkRequest,
  BulkResult,
  OperatorPort,
} from './operator-port.js'

/** What a storage adds to its port for them. */
export interface BulkSteps extends Pick<OperatorPort, 'cancel' | 'resurrect'> {
  /** Oldest ids first; `after` is exclusive. */
  matchingIds(
    place: Place,
    filter: JobFilter,
    range: { readonly limit: number; readonly after: string },
  ): Promise<readonly string[]>
  countMatching(place: Place, filter: JobFilter): Promise<number>
  /** Deletes dead letters; the number that were there. */
  purge(ids: readonly string[]): Promise<number>
}

/** Small enough that no statement holds many rows for long. */
const batchSize = 100
const sampleSize = 10

const places = { cancel: 'hot', resurrect: 'dlq', purge: 'dlq' } as const

export async function previewBulk(steps: BulkSteps, request: BulkRequest): Promise<BulkPreview> {
  const { action, filter, cap } = request
  const place = places[action.kind]
  const matched = await steps.countMatching(place, filter)
  const sample = { limit: Math.min(cap, sampleSize), after: '' }
  return {
    matched,
    willAffect: Math.min(matched, cap),
    sampleIds: await steps.matchingIds(place, filter, sample),
  }
}

export async function applyBulk(
  steps: BulkSteps,
  { action, filter, cap, by, after }: BulkOrder,
): Promise<BulkResult> {
  let [affected, left] = [0, 0]
  let last: string | undefined
  while (affected + left < cap) {
    const range = { limit: Math.min(batchSize, cap - affected - left), after: last ?? after ?? '' }
    const ids = await steps.matchingIds(places[action.kind], filter, range)
    if (ids.length === 0) break
    const moved = await apply(steps, action, ids, by)
    affected += moved
    left += ids.length - moved
    last = ids.at(-1)
  }
  return { affected, left, last }
}

async function apply(
  steps: BulkSteps,
  action: BulkAction,
  ids: readonly string[],
  by: string,
): Promise<number> {
  switch (action.kind) {
    case 'cancel': {
      const results = await steps.cancel(ids, { by, reason: action.reason })
      return results.filter(({ outcome }) => outcome === 'cancelled' || outcome === 'requested')
        .length
    }
    case 'resurrect': {
      const results = await steps.resurrect(ids, { by })
      return results.filter(({ outcome }) => outcome === 'resurrected').length
    }
    case 'purge':
      return steps.purge(ids)
  }
}
