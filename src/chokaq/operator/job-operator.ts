/**
 * What an operator does with jobs and queues, announced to pages, and to the worker of this process,
 * which then acts at once instead of at its next poll or heartbeat.
 */

import { ChokaqError } from '../errors.js'
import { checkPayload } from '../jobs/check-job.js'
import { checkQueueChanges, checkZombieTimeout } from '../jobs/check-queue.js'
import type { CoreEvents, CoreMetrics } from '../ports.js'
import type { JobRegistry } from '../registry/job-registry.js'
import { readPayload } from '../registry/payload-schema.js'
import type { JobStorage } from '../storage/job-storage.js'
import type {
  BulkPreview,
  BulkRequest,
  BulkResult,
  CancelResult,
  ChangedQueue,
  JobEdits,
  PriorityResult,
  QueueChanges,
  ResurrectResult,
} from '../storage/operator-port.js'

export interface JobOperator {
  /** @throws ChokaqError ACTOR_INVALID */
  cancel(
    id: string,
    request: { readonly by: string; readonly reason: string },
  ): Promise<CancelResult>
  /**
   * @throws ChokaqError with nothing changed, where an edit breaks a limit or is no JSON;
   *   PAYLOAD_INVALID where a payload does not fit the job's type
   */
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
  /** @throws ChokaqError QUEUE_INVALID, QUEUE_LIMIT_INVALID, QUEUE_CHANGED, ACTOR_INVALID */
  changeQueue(
    name: string,
    changes: QueueChanges,
    request: { readonly by: string; readonly ifVersion?: string | undefined },
  ): Promise<ChangedQueue>
}

export interface JobOperatorDependencies {
  readonly storage: Pick<JobStorage, keyof JobOperator | 'findJob'>
  /** Payloads of types that are not in it are left to the workers, which may be newer. */
  readonly registry: Pick<JobRegistry, 'find'>
  /** Milliseconds: the longest heartbeat of the workers. */
  readonly heartbeatMaxMs: number
  /** Absent where no worker lives in this process. */
  readonly host?: JobOperatorHost
}

export interface JobOperatorHost {
  readonly metrics: CoreMetrics
  readonly events: CoreEvents
  readonly wake: () => void
  readonly cancelRequested: (jobId: string) => void
}

export function createJobOperator(deps: JobOperatorDependencies): JobOperator {
  const { storage, registry, heartbeatMaxMs, host } = deps

  const announce = async (id: string): Promise<void> => {
    if (host === undefined) return
    const job = await storage.findJob(id)
    if (job === undefined) return
    host.events.emit({ kind: 'job', id, queue: job.queue, state: job.state })
    if (job.state === 'Cancelled') host.metrics.failed(job, 'Cancelled')
  }

  const checkEdit = async (id: string, payload: string): Promise<void> => {
    checkPayload(payload)
    const job = await storage.findJob(id)
    const definition = job && registry.find(job.type)
    if (definition === undefined) return
    const checked = await readPayload(definition.schema, payload)
    if (checked.ok) return
    const why = checked.why.replaceAll('\n', '; ')
    const text = `The payload does not fit ${definition.typeKey}, nothing was changed: ${why}`
    throw new ChokaqError('PAYLOAD_INVALID', text)
  }

  return {
    async cancel(id, request) {
      const result = only(await storage.cancel([id], request))
      if (result.outcome === 'requested') host?.cancelRequested(id)
      if (result.outcome === 'cancelled' || result.outcome === 'requested') await announce(id)
      return result
    },
    async resurrect(id, request) {
      const payload = request.edits?.payload
      if (payload !== undefined) await checkEdit(id, payload)
      const result = only(await storage.resurrect([id], request))
      if (result.outcome === 'resurrected') {
        await announce(id)
        host?.wake()
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
        host?.events.emit({ kind: 'jobs' })
        host?.wake()
      }
      return result
    },
    async changeQueue(name, changes, request) {
      checkQueueChanges(changes)
      checkZombieTimeout(changes, heartbeatMaxMs)
      const changed = await storage.changeQueue(name, changes, request)
      host?.events.emit({ kind: 'queue', queue: name })
      host?.wake()
      return changed
    },
  }
}

function only<T>(results: readonly T[]): T {
  const [result] = results
  if (result === undefined) throw new Error('the storage gave no answer for a job')
  return result
}
