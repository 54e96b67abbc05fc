/**
 * The three tables of the in-memory storage, bounded together: where they are full, the oldest archived
 * jobs go first, then the oldest dead letters; live jobs never do, and no more than fit are taken in.
 */

import { ChokaqError } from '../../errors.js'
import type { FailureReason } from '../../kernel/failure.js'
import { placeOf, type JobState, type Place } from '../../kernel/job-state.js'
import { createMemoryMetrics, type MemoryMetrics } from './memory-metrics.js'
import type { QueueSettings } from '../operator-port.js'

/** One job, wherever it lies; of the last fields only those of its place are set. */
export interface StoredJob {
  readonly id: string
  readonly type: string
  readonly queue: string
  payload: string
  priority: number
  state: JobState
  attempts: number
  readonly idempotencyKey: string | undefined
  tags: readonly string[]
  readonly createdBy: string | undefined
  modifiedBy: string | undefined
  readonly createdAtMs: number
  /** Its age counts from here: first due, or resurrected. */
  enqueuedAtMs: number
  dueAtMs: number
  owner: string | undefined
  /** Of the last lease that no rescue has taken back. */
  token: number | undefined
  heartbeatAtMs: number | undefined
  startedAtMs: number | undefined
  progress: number | undefined
  cancel: { readonly by: string; readonly reason: string } | undefined
  lastError: string | undefined
  checkpoint: string | undefined
  finishedAtMs: number | undefined
  durationMs: number | undefined
  reason: FailureReason | undefined
  details: string | undefined
}

export interface MemoryTables {
  readonly now: () => number
  readonly tables: Readonly<Record<Place, Map<string, StoredJob>>>
  /** Ids of live jobs by idempotency key. */
  readonly liveKeys: Map<string, string>
  readonly queues: Map<string, QueueSettings>
  /** How often each has been changed. */
  readonly queueVersions: Map<string, number>
  readonly metrics: MemoryMetrics
  readonly nextToken: () => number
  /** Puts new live jobs in. @throws ChokaqError STORAGE_FULL, then none of them is. */
  insert(jobs: readonly StoredJob[]): void
  /** To the table of the job's state, from that of the state before. */
  relocate(job: StoredJob, before: JobState): void
  find(id: string): StoredJob | undefined
}

export const unlimited: QueueSettings = {
  paused: false,
  maxWorkers: undefined,
  zombieTimeoutMs: undefined,
  timeoutMs: undefined,
}

export function createMemoryTables(options: {
  readonly now: () => number
  readonly capacity: number
}): MemoryTables {
  const tables = {
    hot: new Map<string, StoredJob>(),
    archive: new Map<string, StoredJob>(),
    dlq: new Map<string, StoredJob>(),
  }
  const liveKeys = new Map<string, string>()
  let token = 0

  const evict = (): void => {
    for (const place of ['archive', 'dlq'] as const) {
      for (const id of tables[place].keys()) {
        const total = tables.hot.size + tables.archive.size + tables.dlq.size
        if (total <= options.capacity) return
        tables[place].delete(id)
      }
    }
  }

  const add = (job: StoredJob): void => {
    const place = placeOf(job.state)
    tables[place].set(job.id, job)
    if (place === 'hot' && job.idempotencyKey !== undefined) {
      liveKeys.set(job.idempotencyKey, job.id)
    }
  }

  return {
    now: options.now,
    tables,
    liveKeys,
    queues: new Map(),
    queueVersions: new Map(),
    metrics: createMemoryMetrics(),
    nextToken: () => (token += 1),
    insert(jobs) {
      if (tables.hot.size + jobs.length > options.capacity) {
        throw new ChokaqError(
          'STORAGE_FULL',
          `The in-memory storage holds ${options.capacity} jobs at most, and its live ones leave no ` +
            `room for ${jobs.length} more. Wait until some have ended, or give it a larger capacity.`,
        )
      }
      jobs.forEach(add)
      evict()
    },
    relocate(job, before) {
      const left = placeOf(before)
      if (left === placeOf(job.state)) return
      tables[left].delete(job.id)
      if (left === 'hot' && job.idempotencyKey !== undefined) liveKeys.delete(job.idempotencyKey)
      add(job)
    },
    find: (id) => tables.hot.get(id) ?? tables.dlq.get(id) ?? tables.archive.get(id),
  }
}
