/**
 * What an operator does with jobs and queues, announced to pages, and to the worker of this process,
 * which then acts at once instead of at its next poll or heartbeat.
 */

import { checkQueueChanges, checkZombieTimeout } from '../jobs/check-queue.js'
import type { CoreEvents, CoreMetrics } from '../ports.js'
import type { JobStorage } from '../storage/job-storage.js'
import type {
  BulkPreview,
  BulkRequest,
  BulkResult,
  CancelResult,
  JobEdits,
  PriorityResult,
  QueueChanges,
  QueueSettings,
  ResurrectResult,
} from '../storage/operator-port.js'

export interface JobOperator {
  /** @throws ChokaqError ACTOR_INVALID */
  cancel(
    id: string,
    request: { readonly by: string; readonly reason: string },
  ): Promise<CancelResult>
  /** @throws ChokaqError where an edit breaks a limit or is no JSON: nothing was changed */
  resurrect(
    id: string,
    request: { readonly by: string; readonly edits?: JobEdits | undefined },
  ): Promise<ResurrectResult>
  /** @throws ChokaqError PRIORITY_OUT_OF_RANGE, ACTOR_INVALID */
  setPriority(
    id: string,
    request: { readonly by: string; readonly priority: number },
  ): Promise<PriorityResult>
  /** @throws ChokaqError FILTER_INVALID */
  previewBulk(request: BulkRequest): Promise<BulkPreview>
  /** @throws ChokaqError FILTER_INVALID, ACTOR_INVALID */
  applyBulk(request: BulkRequest & { readonly by: string }): Promise<BulkResult>
  /** @throws ChokaqError QUEUE_INVALID, QUEUE_LIMIT_INVALID, ACTOR_INVALID */
  changeQueue(
    name: string,
    changes: QueueChanges,
    request: { readonly by: string },
  ): Promise<QueueSettings>
}

export interface JobOperatorDependencies {
  readonly storage: Pick<JobStorage, keyof JobOperator | 'findJob'>
  readonly metrics: CoreMetrics
  readonly events: CoreEvents
  /** Milliseconds: the longest heartbeat of the workers. */
  readonly heartbeatMaxMs: number
  /** Of the worker in this process, if there is one. */
  readonly wake: () => void
  readonly cancelRequested: (jobId: string) => void
}

export function createJobOperator(deps: JobOperatorDependencies): JobOperator {
  const { storage, metrics, events, wake, cancelRequested, heartbeatMaxMs } = deps

  const announce = async (id: string): Promise<void> => {
    const job = await storage.findJob(id)
    if (job === undefined) return
    events.emit({ kind: 'job', id, queue: job.queue, state: job.state })
    if (job.state === 'Cancelled') metrics.failed(job, 'Cancelled')
  }

  return {
    async cancel(id, request) {
      const result = only(await storage.cancel([id], request))
      if (result.outcome === 'requested') cancelRequested(id)
      if (result.outcome === 'cancelled' || result.outcome === 'requested') await announce(id)
      return result
    },
    async resurrect(id, request) {
      const result = only(await storage.resurrect([id], request))
      if (result.outcome === 'resurrected') {
        await announce(id)
        wake()
      }
      return result
    },
    async setPriority(id, request) {
      const result = only(await storage.setPriority([id], request))
      if (result.outcome === 'changed') await announce(id)
      return result
    },
    previewBulk: (request) => storage.previewBulk(request),
    async applyBulk(request) {
      const result = await storage.applyBulk(request)
      if (result.affected > 0) {
        events.emit({ kind: 'jobs' })
        wake()
      }
      return result
    },
    async changeQueue(name, changes, request) {
      checkQueueChanges(changes)
      checkZombieTimeout(changes, heartbeatMaxMs)
      const settings = await storage.changeQueue(name, changes, request)
      events.emit({ kind: 'queue', queue: name })
      wake()
      return settings
    },
  }
}

function only<T>(results: readonly T[]): T {
  const [result] = results
  if (result === undefined) throw new Error('the storage gave no answer for a job')
  return result
}
