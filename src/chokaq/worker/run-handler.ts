/**
 * One run of a handler: the context it gets, the time it has, the reasons for which it is asked to
 * end, and what came of it.
 */

import type { FetchedJob } from '../jobs/job.js'
import { failureKinds, isFatal, type FailureKind } from '../kernel/failure.js'
import type { Pipeline } from '../middleware/middleware.js'
import type { CoreLog, MonotonicClock } from '../ports.js'
import type { JobDefinition } from '../registry/job-definition.js'
import { JobAbortedError, type AbortReason, type RunAbort } from './abort.js'
import type { Alarms } from './alarms.js'
import type { JobContext } from './job-context.js'
import { classifyError, readableError } from './job-errors.js'

export type RunEnd = { readonly durationMs: number } & (
  | { readonly kind: 'succeeded' }
  | {
      readonly kind: 'failed'
      readonly failure: FailureKind
      readonly error: unknown
      readonly retryAfterMs?: number | undefined
    }
  /** Ended from outside, by shutdown, an operator, or the heartbeat. */
  | { readonly kind: 'aborted'; readonly reason: AbortReason; readonly error: unknown }
  /** It was asked to end and has not within its grace; it may still be at work. */
  | { readonly kind: 'unresponsive'; readonly reason: AbortReason }
)

export interface HandlerRun {
  readonly job: FetchedJob
  readonly attempt: number
  readonly definition: JobDefinition
  readonly payload: unknown
  readonly pipeline: Pipeline
  /** Aborted by whoever ends runs; by this file at the time limit. */
  readonly abort: RunAbort
  readonly alarms: Alarms
  readonly timeoutMs: number
  /** Asked when the run is aborted: a shutdown has less time than a time limit. */
  readonly abortGraceMs: () => number
  readonly log: CoreLog
  readonly now: MonotonicClock
  readonly onProgress: (percent: number) => void
  readonly saveCheckpoint: (json: string, trx: unknown) => Promise<boolean>
}

/** Resolves, whatever the handler does, when it has ended or its grace is over. */
export function runHandler(run: HandlerRun): Promise<RunEnd> {
  const { abort, abortGraceMs, alarms, now } = run
  const { error } = abort
  if (error !== undefined) {
    return Promise.resolve({ kind: 'aborted', reason: error.reason, error, durationMs: 0 })
  }
  const began = now()
  const timeLimit = alarms.set(run.timeoutMs, () => abort.abort('timeout'))
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined
    let ended = false
    const end = (): number => {
      ended = true
      timeLimit.cancel()
      clearTimeout(grace)
      return now() - began
    }
    work(run).then(
      () => resolve({ kind: 'succeeded', durationMs: end() }),
      (thrown: unknown) => {
        const durationMs = end()
        resolve({ ...understand(run, thrown), durationMs })
      },
    )
    abort.listen((reason) => {
      if (ended) return
      grace = setTimeout(
        () => resolve({ kind: 'unresponsive', reason, durationMs: end() }),
        abortGraceMs(),
      )
    })
  })
}

/** What throws before its first await, handler or middleware, rejects like any other. */
async function work(run: HandlerRun): Promise<void> {
  const context = createContext(run)
  await run.pipeline(context, async () => run.definition.handler(context))
}

function understand(
  run: HandlerRun,
  thrown: unknown,
):
  | { kind: 'failed'; failure: FailureKind; error: unknown; retryAfterMs?: number | undefined }
  | { kind: 'aborted'; reason: AbortReason; error: unknown } {
  const error = readableError(thrown)
  const verdict = classifyError(error)
  const failure = classified(run, thrown) ?? verdict.kind
  // What an aborted handler throws comes from the abortion, unless it says that the work is at fault.
  if (run.abort.error !== undefined && !isFatal(failure)) {
    const { reason } = run.abort.error
    if (reason === 'timeout') return { kind: 'failed', failure: 'timeout', error }
    return { kind: 'aborted', reason, error }
  }
  return { kind: 'failed', failure, error, retryAfterMs: verdict.retryAfterMs }
}

/** What the definition's own `classify` makes of it; a fault of its own must not cost the job its end. */
function classified({ definition, log }: HandlerRun, thrown: unknown): FailureKind | undefined {
  try {
    const kind = definition.options.classify?.(thrown)
    if (kind === undefined || failureKinds.includes(kind)) return kind
    throw new RangeError(`classify answered ${JSON.stringify(kind)}, which is no kind of failure`)
  } catch (error) {
    const err = readableError(error)
    log.error({ event: 'job classify failed', err }, 'job classify failed')
    return undefined
  }
}

function createContext(run: HandlerRun): JobContext {
  const { job, attempt, payload, abort } = run
  return {
    id: job.lease.jobId,
    typeKey: job.type,
    queue: job.queue,
    attempt,
    payload,
    tags: job.tags,
    createdBy: job.createdBy,
    idempotencyKey: job.idempotencyKey,
    get signal() {
      return abort.signal
    },
    log: run.log,
    lease: job.lease,
    progress: run.onProgress,
    checkpoint: job.checkpoint === undefined ? undefined : JSON.parse(job.checkpoint),
    async saveCheckpoint(value, trx) {
      const isHeld = await run.saveCheckpoint(JSON.stringify(value), trx)
      if (isHeld) return
      abort.abort('heartbeat')
      throw new JobAbortedError('heartbeat')
    },
  }
}
