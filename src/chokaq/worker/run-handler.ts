/**
 * One run of a handler: the context it gets, the time it has, the reasons for which it is asked to
 * end, and what came of it.
 */

import type { FetchedJob } from '../jobs/job.js'
import { failureKinds, isFatal, type FailureKind } from '../kernel/failure.js'
import type { Pipeline } from '../middleware/middleware.js'
import type { CoreLog, MonotonicClock } from '../ports.js'
import type { JobDefinition } from '../registry/job-definition.js'
import { JobAbortedError, type AbortReason } from './abort.js'
import type { JobContext } from './job-context.js'
import { classifyError, readableError } from './job-errors.js'
import { longestTimerMs } from './waiting.js'

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
  /** Aborted with a JobAbortedError by whoever ends runs; this file aborts it at the time limit. */
  readonly controller: AbortController
  readonly timeoutMs: number
  /** Asked when the run is aborted: a shutdown has less time than a time limit. */
  readonly abortGraceMs: () => number
  readonly log: CoreLog
  readonly now: MonotonicClock
  readonly onProgress: (percent: number) => void
  readonly saveCheckpoint: (json: string, trx: unknown) => Promise<boolean>
}

export async function runHandler(run: HandlerRun): Promise<RunEnd> {
  const { controller, definition, now } = run
  if (controller.signal.aborted) {
    const { reason: error } = controller.signal as { reason: JobAbortedError }
    return { kind: 'aborted', reason: error.reason, error, durationMs: 0 }
  }
  const context = createContext(run)
  const began = now()
  const timer = setTimeout(
    () => abortRun(controller, 'timeout'),
    Math.min(run.timeoutMs, longestTimerMs),
  )
  // What throws before its first await, handler or middleware, rejects like any other.
  const work = (async () => run.pipeline(context, async () => definition.handler(context)))().then(
    (): Settled => ({ ok: true }),
    (error: unknown): Settled => ({ ok: false, error }),
  )
  const settled = await settledOrUnresponsive(work, run)
  clearTimeout(timer)
  const durationMs = now() - began
  if (settled === 'unresponsive') {
    return { kind: 'unresponsive', reason: reasonOf(controller.signal), durationMs }
  }
  if (settled.ok) return { kind: 'succeeded', durationMs }
  return { ...understand(run, settled.error), durationMs }
}

type Settled = { readonly ok: true } | { readonly ok: false; readonly error: unknown }

/** The first reason stays. */
export function abortRun(controller: AbortController, reason: AbortReason): void {
  controller.abort(new JobAbortedError(reason))
}

function reasonOf(signal: AbortSignal): AbortReason {
  return (signal.reason as JobAbortedError).reason
}

/** The work's end, or word that it has not ended within its grace after the signal was aborted. */
function settledOrUnresponsive(
  work: Promise<Settled>,
  { controller, abortGraceMs }: HandlerRun,
): Promise<Settled | 'unresponsive'> {
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined
    const onAbort = (): void => {
      grace = setTimeout(() => resolve('unresponsive'), abortGraceMs())
    }
    controller.signal.addEventListener('abort', onAbort, { once: true })
    void work.then((settled) => {
      controller.signal.removeEventListener('abort', onAbort)
      clearTimeout(grace)
      resolve(settled)
    })
  })
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
  const { signal } = run.controller
  // What an aborted handler throws comes from the abortion, unless it says that the work is at fault.
  if (signal.aborted && !isFatal(failure)) {
    const reason = reasonOf(signal)
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
  const { job, attempt, payload, controller, log } = run
  return {
    id: job.lease.jobId,
    typeKey: job.type,
    queue: job.queue,
    attempt,
    payload,
    tags: job.tags,
    createdBy: job.createdBy,
    idempotencyKey: job.idempotencyKey,
    signal: controller.signal,
    log,
    lease: job.lease,
    progress: run.onProgress,
    checkpoint: job.checkpoint === undefined ? undefined : JSON.parse(job.checkpoint),
    async saveCheckpoint(value, trx) {
      const isHeld = await run.saveCheckpoint(JSON.stringify(value), trx)
      if (isHeld) return
      abortRun(controller, 'heartbeat')
      throw new JobAbortedError('heartbeat')
    },
  }
}
