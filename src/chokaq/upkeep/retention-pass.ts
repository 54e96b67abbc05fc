/**
 * Deletes succeeded jobs that are old, and folds the seconds' counts into the lasting totals, in small
 * batches. Dead letters stay until somebody resurrects or purges them: nothing is lost by waiting.
 */

import type { MaintenancePort } from '../storage/maintenance-port.js'
import type { UpkeepPass } from './upkeep-loop.js'

export interface RetentionOptions {
  readonly archiveMs: number
}

/** Rows of one statement: some ten milliseconds of work. */
const batch = 1_000

/** What the charts show at most; older seconds count in the totals only. */
export const metricBucketsMs = 24 * 3_600_000

/** Frequent, so that each pass is short. */
export const retentionIntervalMs = 60_000

export function createRetentionPass(
  { archiveMs }: RetentionOptions,
  storage: Pick<MaintenancePort, 'prune' | 'foldMetrics'>,
): UpkeepPass {
  return async (signal, tried) => {
    const old = { place: 'archive', olderThanMs: archiveMs, limit: batch } as const
    while (!signal.aborted && (await storage.prune(old)) >= batch) tried()
    const counted = { olderThanMs: metricBucketsMs, limit: batch }
    while (!signal.aborted && (await storage.foldMetrics(counted)) >= batch) tried()
  }
}
