/** A started job: waits for its lane, runs under its heartbeat, and is settled when its handler ends. */

import type { FetchedJob } from '../jobs/job.js'
import type { ConcurrencyLimiter, Permit } from '../kernel/concurrency-limiter.js'
import type { CoreLog } from '../ports.js'
import type { StartResult } from '../storage/worker-port.js'
import type { Admission } from './admit-job.js'
import { startHeartbeat, type Heartbeat } from './heartbeat.js'
import type { ActiveRun, ProcessDependencies } from './process-dependencies.js'
import { abortRun, runHandler, type RunEnd } from './run-handler.js'
import { settleRun, tellCircuit } from './settle-run.js'
import { defaultBackoff, defaultMaxAgeMs, defaultTimeoutMs } from './worker-options.js'

export interface StartedJob {
  readonly job: FetchedJob
  readonly admission: Extract<Admission, { kind: 'admitted' }>
  readonly started: Extract<StartResult, { outcome: 'started' }>
  readonly ageMs: () => number
}

/** Resolves when the outcome is stored. */
export async function runStarted(given: StartedJob, deps: ProcessDependencies): Promise<void> {
  const { job, admission, started, ageMs } = given
  const { options, moves, random, log, limiter, runs } = deps
  const controller = new AbortController()
  const state: Observed = { progress: undefined, cancel: undefined, lost: false }
  const heartbeat = beat(given, controller, state, deps)
  const run: ActiveRun = { job, controller, heartbeat }
  runs.add(run)
  try {
    const permit = await enterLane(limiter, deps)
    const end =
      permit === undefined
        ? ({ kind: 'aborted', reason: 'shutdown', error: undefined, durationMs: 0 } as const)
        : await inLane(permit, () => handle(given, controller, state, deps), deps)
    tellCircuit(admission.circuit, end)
    const { maxAttempts, maxAgeMs, backoff } = admission.definition.options
    const policy = {
      backoff: backoff ?? options.backoff ?? defaultBackoff,
      maxAttempts: maxAttempts ?? options.maxAttempts,
      maxAgeMs: maxAgeMs ?? options.maxAgeMs ?? defaultMaxAgeMs,
    }
    const { cancel, lost } = state
    const ended = { job, attempt: started.attempt, ageMs: ageMs(), end, cancel, lost }
    await settleRun(ended, { moves, policy, random, log })
  } finally {
    heartbeat.stop()
    runs.delete(run)
  }
}

/** Undefined where the worker stopped before a lane was free. */
async function enterLane(
  limiter: ConcurrencyLimiter,
  { stopping, onEntered }: ProcessDependencies,
): Promise<Permit | undefined> {
  try {
    // Whoever must not wait needs no listener on the signal either.
    return limiter.tryAcquire() ?? (await limiter.acquire(stopping))
  } catch (error) {
    if (!stopping.aborted) throw error
    return undefined
  } finally {
    onEntered()
  }
}

async function inLane(
  permit: Permit,
  work: () => Promise<RunEnd>,
  { onLaneFree }: ProcessDependencies,
): Promise<RunEnd> {
  try {
    return await work()
  } finally {
    permit.release()
    onLaneFree()
  }
}

interface Observed {
  progress: number | undefined
  cancel: { readonly by: string; readonly reason: string } | undefined
  lost: boolean
}

function handle(
  { job, admission, started }: StartedJob,
  controller: AbortController,
  state: Observed,
  deps: ProcessDependencies,
): Promise<RunEnd> {
  const { options, pipeline, log, now, events, abortGraceMs } = deps
  const { definition, payload } = admission
  const { jobId: id } = job.lease
  const about = { jobId: id, type: job.type, attempt: started.attempt }
  return runHandler({
    job,
    attempt: started.attempt,
    definition,
    payload,
    pipeline,
    controller,
    timeoutMs:
      started.timeoutMs ?? definition.options.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs,
    abortGraceMs,
    log: withFields(log, about),
    now,
    onProgress: (percent) => {
      state.progress = percent
      events.emit({ kind: 'job', id, queue: job.queue, state: undefined })
    },
    saveCheckpoint: (json, trx) => deps.saveCheckpoint(job, json, trx),
  })
}

function beat(
  { job, started }: StartedJob,
  controller: AbortController,
  state: Observed,
  { options, moves, random, log }: ProcessDependencies,
): Heartbeat {
  const { heartbeatMinMs: minMs, heartbeatMaxMs: maxMs } = options
  const zombieTimeoutMs = started.zombieTimeoutMs ?? options.zombieTimeoutMs
  return startHeartbeat({
    minMs,
    maxMs,
    // Before the others may take it for dead.
    silentMs: Math.max(maxMs, zombieTimeoutMs - maxMs),
    beat: () => moves.heartbeat(job, state.progress),
    random,
    onCancelRequested: (cancel) => {
      state.cancel = cancel
      abortRun(controller, 'admin')
    },
    onLost: () => {
      state.lost = true
      log.warn(
        { event: 'job was taken away', jobId: job.lease.jobId, type: job.type, move: 'heartbeat' },
        'job was taken away',
      )
      abortRun(controller, 'heartbeat')
    },
    onSilent: () => abortRun(controller, 'heartbeat'),
  })
}

function withFields(log: CoreLog, about: object): CoreLog {
  const at =
    (level: keyof CoreLog) =>
    (fields: object, message: string): void =>
      log[level]({ ...about, ...fields }, message)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
