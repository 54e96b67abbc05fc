/** A started job: waits for its lane, runs under its heartbeat, and is settled when its handler ends. */

import type { FetchedJob, StartedRun } from '../jobs/job.js'
import type { Permit } from '../kernel/concurrency-limiter.js'
import type { HeartbeatResult } from '../storage/worker-port.js'
import { cancellationDetails } from '../storage/cancellation-details.js'
import { RunAbort } from './abort.js'
import type { Admission } from './admit-job.js'
import { Heartbeat, type HeartbeatOwner } from './heartbeat.js'
import { JobLog } from './job-log.js'
import type { ActiveRun, ProcessDependencies } from './process-dependencies.js'
import { runHandler, type RunEnd } from './run-handler.js'
import { settleRun, tellCircuit } from './settle-run.js'
import { defaultBackoff, defaultMaxAgeMs, defaultTimeoutMs } from './worker-options.js'

export interface AdmittedJob {
  readonly job: FetchedJob
  readonly admission: Extract<Admission, { kind: 'admitted' }>
  /** Monotonic milliseconds at which it was first due or resurrected. */
  readonly bornAt: number
}

/** Resolves when the outcome is stored. */
export async function runStarted(
  admitted: AdmittedJob,
  started: StartedRun,
  deps: ProcessDependencies,
): Promise<void> {
  const { runs } = deps
  const run = new Run(admitted, started, deps)
  runs.add(run)
  try {
    const permit = await lane(run, deps)
    deps.onEntered(run.job)
    if (permit === undefined) {
      await letGo(run, deps)
      return
    }
    let end: RunEnd | undefined
    try {
      end = await handle(run, deps)
    } finally {
      permit.release()
      deps.onLaneFree(end?.durationMs)
    }
    await settle(run, end, deps)
  } finally {
    run.heartbeat.stop()
    runs.delete(run)
  }
}

/**
 * Milliseconds that a started job waits for its lane: several times what the pace had promised. It holds a
 * place of its queue all the while and no pause reaches it, so then it goes back to where others find it.
 */
const longestWaitMs = 2_000

/** Undefined where the run must not begin: the worker stops, somebody ended it, or it waited too long. */
function lane(
  { abort }: Run,
  { limiter, stopping, alarms }: ProcessDependencies,
): Permit | undefined | Promise<Permit | undefined> {
  if (stopping.aborted) return undefined
  const free = limiter.tryAcquire()
  if (free !== undefined) return free
  return new Promise((resolve) => {
    let waits = true
    const end = (): void => {
      waits = false
      patience.cancel()
      resolve(undefined)
    }
    const patience = alarms.set(longestWaitMs, end)
    abort.listen(end)
    // It rejects only where the worker stops.
    limiter.acquire(stopping).then((permit) => {
      patience.cancel()
      if (waits) resolve(permit)
      else permit.release()
    }, end)
  })
}

/** Its handler has not begun, so nothing has come of the run: the attempt is given back. */
async function letGo({ job, cancel, lost }: Run, { moves }: ProcessDependencies): Promise<void> {
  if (lost) return
  if (cancel === undefined) {
    await moves.giveBack(job)
    return
  }
  const details = cancellationDetails(cancel)
  await moves.deadLetter(job, { reason: 'Cancelled', details, refundAttempt: true })
}

function handle(run: Run, deps: ProcessDependencies): Promise<RunEnd> {
  const { options, pipeline, alarms, log, now, events, abortGraceMs } = deps
  const { job, started } = run
  const { definition, payload } = run.admitted.admission
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

function settle(run: Run, end: RunEnd, deps: ProcessDependencies): Promise<void> {
  const { job, cancel, lost } = run
  const { admission, bornAt } = run.admitted
  const { options, moves, random, log, now } = deps
  tellCircuit(admission.circuit, end)
  if (end.kind === 'succeeded') return moves.succeed(job, end.durationMs)
  const { maxAttempts, maxAgeMs, backoff } = admission.definition.options
  const policy = {
    backoff: backoff ?? options.backoff ?? defaultBackoff,
    maxAttempts: maxAttempts ?? options.maxAttempts,
    maxAgeMs: maxAgeMs ?? options.maxAgeMs ?? defaultMaxAgeMs,
  }
  const ageMs = now() - bornAt
  const ended = { job, attempt: run.started.attempt, ageMs, end, cancel, lost }
  return settleRun(ended, { moves, policy, random, log })
}

/** What its heartbeat says and learns of a run. */
class Run implements ActiveRun, HeartbeatOwner {
  readonly job: FetchedJob
  readonly admitted: AdmittedJob
  readonly started: StartedRun
  readonly abort = new RunAbort()
  readonly heartbeat: Heartbeat
  progress: number | undefined
  cancel: { readonly by: string; readonly reason: string } | undefined
  lost = false
  readonly #deps: ProcessDependencies

  constructor(admitted: AdmittedJob, started: StartedRun, deps: ProcessDependencies) {
    this.job = admitted.job
    this.admitted = admitted
    this.started = started
    this.#deps = deps
    const { heartbeatMaxMs, zombieTimeoutMs } = deps.options
    // Before the others may take it for dead.
    const silentMs = (started.zombieTimeoutMs ?? zombieTimeoutMs) - heartbeatMaxMs
    this.heartbeat = new Heartbeat(deps.heartbeat, Math.max(heartbeatMaxMs, silentMs), this)
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
