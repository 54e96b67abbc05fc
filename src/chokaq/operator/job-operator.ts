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
  BulkOrder,
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

/** What was done in a caller's transaction that has committed by now. */
export type OperatorMove =
  | { readonly jobId: string; readonly outcome: OperatorOutcome }
  | { readonly queue: string }
  /** Many of them. */
  | 'jobs'

type OperatorOutcome = (CancelResult | ResurrectResult | PriorityResult)['outcome']

/**
 * With `trx` a move is made when and only when that transaction commits; `announce` it then, or pages
 * and the worker learn of it at their next look.
 *
 * @typeParam Trx the caller's transaction, where the storage has such a thing.
 */
export interface JobOperator<Trx = never> {
  /** @throws ChokaqError ACTOR_INVALID */
  cancel(
    id: string,
    request: { readonly by: string; readonly reason: string },
    trx?: Trx,
  ): Promise<CancelResult>
  /**
   * @throws ChokaqError with nothing changed, where an edit breaks a limit or is no JSON;
   *   PAYLOAD_INVALID where a payload does not fit the job's type
   */
  resurrect(
    id: string,
    request: { readonly by: string; readonly edits?: JobEdits | undefined },
    trx?: Trx,
  ): Promise<ResurrectResult>
  /** @throws ChokaqError PRIORITY_OUT_OF_RANGE, ACTOR_INVALID */
  setPriority(
    id: string,
    request: { readonly by: string; readonly priority: number },
    trx?: Trx,
  ): Promise<PriorityResult>
  /** @throws ChokaqError FILTER_INVALID */
  previewBulk(request: BulkRequest): Promise<BulkPreview>
  /** @throws ChokaqError FILTER_INVALID, ACTOR_INVALID */
  applyBulk(order: BulkOrder, trx?: Trx): Promise<BulkResult>
  /** @throws ChokaqError QUEUE_INVALID, QUEUE_LIMIT_INVALID, QUEUE_CHANGED, ACTOR_INVALID */
  changeQueue(
    name: string,
    changes: QueueChanges,
    request: { readonly by: string; readonly ifVersion?: string | undefined },
    trx?: Trx,
  ): Promise<ChangedQueue>
  announce(move: OperatorMove): Promise<void>
}

export interface JobOperatorDependencies<Trx = never> {
  readonly storage: Pick<JobStorage<Trx>, Exclude<keyof JobOperator, 'announce'> | 'findJob'>
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

const isMove: ReadonlySet<OperatorOutcome> = new Set([
  ...(['cancelled', 'requested', 'resurrected', 'changed'] as const),
])

export function createJobOperator<Trx = never>(
  deps: JobOperatorDependencies<Trx>,
): JobOperator<Trx> {
  const { storage, registry, heartbeatMaxMs, host } = deps

  const announce = async (move: OperatorMove): Promise<void> => {
    if (host === undefined) return
    if (move === 'jobs') {
      host.events.emit({ kind: 'jobs' })
      host.wake()
      return
    }
    if ('queue' in move) {
      host.events.emit({ kind: 'queue', queue: move.queue })
      host.wake()
      return
    }
    const { jobId: id, outcome } = move
    if (!isMove.has(outcome)) return
    if (outcome === 'requested') host.cancelRequested(id)
    if (outcome === 'resurrected') host.wake()
    const job = await storage.findJob(id)
    if (job === undefined) return
    host.events.emit({ kind: 'job', id, queue: job.queue, state: job.state })
    if (job.state === 'Cancelled') host.metrics.failed(job, 'Cancelled')
  }

  const checkEdit = async (id: string, payload: string, trx?: Trx): Promise<void> => {
    checkPayload(payload)
    const job = await storage.findJob(id, trx)
    const definition = job && registry.find(job.type)
    if (definition === undefined) return
    const checked = await readPayload(definition.schema, payload)
    if (checked.ok) return
    const why = checked.why.replaceAll('\n', '; ')
    const text = `The payload does not fit ${definition.typeKey}, nothing was changed: ${why}`
    throw new ChokaqError('PAYLOAD_INVALID', text)
  }

  return {
    announce,
    async cancel(id, request, trx) {
      const result = only(await storage.cancel([id], request, trx))
      if (trx === undefined) await announce({ jobId: id, outcome: result.outcome })
      return result
    },
    async resurrect(id, request, trx) {
      const payload = request.edits?.payload
      if (payload !== undefined) await checkEdit(id, payload, trx)
      const result = only(await storage.resurrect([id], request, trx))
      if (trx === undefined) await announce({ jobId: id, outcome: result.outcome })
      return result
    },
    async setPriority(id, request, trx) {
      const result = only(await storage.setPriority([id], request, trx))
      if (trx === undefined) await announce({ jobId: id, outcome: result.outcome })
      return result
    },
    previewBulk: (request) => storage.previewBulk(request),
    async applyBulk(order, trx) {
      const result = await storage.applyBulk(order, trx)
      if (trx === undefined && result.affected > 0) await announce('jobs')
      return result
    },
    async changeQueue(name, changes, request, trx) {
      checkQueueChanges(changes)
      checkZombieTimeout(changes, heartbeatMaxMs)
      const changed = await storage.changeQueue(name, changes, request, trx)
      if (trx === undefined) await announce({ queue: name })
      return changed
    },
  }
}

function only<T>(results: readonly T[]): T {
  const [result] = results
  if (result === undefined) throw new Error('the storage gave no answer for a job')
  return result
}
