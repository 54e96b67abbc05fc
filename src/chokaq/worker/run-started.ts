/** A started job: waits for its lane, runs under its heartbeat, and is settled when its handler ends. */

import type { FetchedJob, StartedRun } from '../jobs/job.js'
import type { ConcurrencyLimiter, Permit } from '../kernel/concurrency-limiter.js'
import type { HeartbeatResult } from '../storage/worker-port.js'
import { RunAbort } from './abort.js'
import type { Admission } from './admit-job.js'
import { Heartbeat, type HeartbeatOwner } from './heartbeat.js'
import { JobLog } from './job-log.js'
import type { ActiveRun, ProcessDependencies } from './process-dependencies.js'
import { runHandler, type RunEnd } from './run-handler.js'
import { settleRun, tellCircuit } from './settle-run.js'
import { defaultBackoff, defaultMaxAgeMs, defaultTimeoutMs } from './worker-options.js'

export interface StartedJob {
  readonly job: FetchedJob
  readonly admission: Extract<Admission, { kind: 'admitted' }>
  readonly started: StartedRun
  readonly ageMs: () => number
}

/** Resolves when the outcome is stored. */
export async function runStarted(given: StartedJob, deps: ProcessDependencies): Promise<void> {
  const { limiter, runs, stopping } = deps
  const run = new Run(given, deps)
  runs.add(run)
  try {
    const permit = limiter.tryAcquire() ?? (await laneOrStop(limiter, stopping))
    deps.onEntered(given.job)
    let end: RunEnd = { kind: 'aborted', reason: 'shutdown', error: undefined, durationMs: 0 }
    if (permit !== undefined) {
      try {
        end = await handle(run, given, deps)
      } finally {
        permit.release()
        deps.onLaneFree(end.durationMs)
      }
    }
    await settle(run, given, end, deps)
  } finally {
    run.heartbeat.stop()
    runs.delete(run)
  }
}

/** Undefined where the worker stopped before a lane was free. */
function laneOrStop(
  limiter: ConcurrencyLimiter,
  stopping: AbortSignal,
): Promise<Permit | undefined> {
  return limiter.acquire(stopping).catch((error: unknown) => {
    if (!stopping.aborted) throw error
    return undefined
  })
}

function handle(
  run: Run,
  { job, admission, started }: StartedJob,
  deps: ProcessDependencies,
): Promise<RunEnd> {
  const { options, pipeline, alarms, log, now, events, abortGraceMs } = deps
  const { definition, payload } = admission
  return runHandler({
    job,
    attempt: started.attempt,
    definition,
    payload,
    pipeline,
    abort: run.abort,
    alarms,
    timeoutMs:
      started.timeoutMs ?? definition.options.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs,
    abortGraceMs,
    log: new JobLog(log, job, started.attempt),
    now,
    onProgress: (percent) => {
      run.progress = percent
      events.emit({ kind: 'job', id: job.lease.jobId, queue: job.queue, state: undefined })
    },
    saveCheckpoint: (json, trx) => deps.saveCheckpoint(job, json, trx),
  })
}

function settle(
  { cancel, lost }: Run,
  { job, admission, started, ageMs }: StartedJob,
  end: RunEnd,
  { options, moves, random, log }: ProcessDependencies,
): Promise<void> {
  tellCircuit(admission.circuit, end)
  const { maxAttempts, maxAgeMs, backoff } = admission.definition.options
  const policy = {
    backoff: backoff ?? options.backoff ?? defaultBackoff,
    maxAttempts: maxAttempts ?? options.maxAttempts,
    maxAgeMs: maxAgeMs ?? options.maxAgeMs ?? defaultMaxAgeMs,
  }
  const ended = { job, attempt: started.attempt, ageMs: ageMs(), end, cancel, lost }
  return settleRun(ended, { moves, policy, random, log })
}

/** What its heartbeat says and learns of a run. */
class Run implements ActiveRun, HeartbeatOwner {
  readonly job: FetchedJob
  readonly abort = new RunAbort()
  readonly heartbeat: Heartbeat
  progress: number | undefined
  cancel: { readonly by: string; readonly reason: string } | undefined
  lost = false
  readonly #deps: ProcessDependencies

  constructor({ job, started }: StartedJob, deps: ProcessDependencies) {
    this.job = job
    this.#deps = deps
    const { options, alarms, random } = deps
    const { heartbeatMinMs: minMs, heartbeatMaxMs: maxMs } = options
    const zombieTimeoutMs = started.zombieTimeoutMs ?? options.zombieTimeoutMs
    // Before the others may take it for dead.
    const silentMs = Math.max(maxMs, zombieTimeoutMs - maxMs)
    this.heartbeat = new Heartbeat({ minMs, maxMs, silentMs, alarms, random }, this)
  }

  beat(): Promise<HeartbeatResult> {
    return this.#deps.moves.heartbeat(this.job, this.progress)
  }

  onCancelRequested(cancel: { readonly by: string; readonly reason: string }): void {
    this.cancel = cancel
    this.abort.abort('admin')
  }

  onLost(): void {
    this.lost = true
    const { lease, type } = this.job
    this.#deps.log.warn(
      { event: 'job was taken away', jobId: lease.jobId, type, move: 'heartbeat' },
      'job was taken away',
    )
    this.abort.abort('heartbeat')
  }

  onSilent(): void {
    this.abort.abort('heartbeat')
  }
}
