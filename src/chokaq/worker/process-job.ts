/**
 * One fetched job to its end in this worker: admitted, started, run, settled. The gate before the
 * handler is the start, which the storage grants to one lease only.
 */

import type { FetchedJob } from '../jobs/job.js'
import type { StartResult } from '../storage/worker-port.js'
import { admitJob, type Admission } from './admit-job.js'
import type { ProcessDependencies } from './process-dependencies.js'
import { runStarted, type AdmittedJob } from './run-started.js'

/**
 * @param fetchedAt monotonic, when it was fetched
 * @returns resolves when the outcome is stored; rejects only by a fault of the program
 */
export async function processJob(
  job: FetchedJob,
  fetchedAt: number,
  deps: ProcessDependencies,
): Promise<void> {
  const bornAt = fetchedAt - job.ageMs
  try {
    const verdict = admitJob(job, deps.now() - bornAt, deps.admission)
    const admission = verdict instanceof Promise ? await verdict : verdict
    if (admission.kind !== 'admitted') {
      deps.onEntered(job)
      await turnAway(job, admission, deps)
      return
    }
    try {
      await startAndRun({ job, admission, bornAt }, deps)
    } finally {
      // Says nothing where the run's end has been told: a lease that is kept would block its circuit.
      admission.circuit.released()
    }
  } finally {
    // In any case: a place that is not given back would be gone for good.
    deps.onEntered(job)
  }
}

async function turnAway(
  job: FetchedJob,
  refusal: Exclude<Admission, { kind: 'admitted' }>,
  { moves, log }: ProcessDependencies,
): Promise<void> {
  if (refusal.kind === 'postponed') {
    await moves.giveBack(job, refusal.delayMs)
    return
  }
  const about = { jobId: job.lease.jobId, type: job.type, queue: job.queue }
  log.error({ event: 'job failed', ...about, reason: refusal.reason }, 'job failed')
  await moves.deadLetter(job, { ...refusal, refundAttempt: true })
}

function startAndRun(admitted: AdmittedJob, deps: ProcessDependencies): Promise<void> {
  const { job } = admitted
  if (deps.stopping.aborted) {
    deps.onEntered(job)
    return deps.moves.giveBack(job)
  }
  if (job.started === undefined) return startThenRun(admitted, deps)
  const { lease, queue } = job
  deps.events.emit({ kind: 'job', id: lease.jobId, queue, state: 'Processing' })
  return runStarted(admitted, job.started, deps)
}

async function startThenRun(admitted: AdmittedJob, deps: ProcessDependencies): Promise<void> {
  const { job } = admitted
  const { moves } = deps
  let started: StartResult
  try {
    started = await moves.start(job)
  } catch (error) {
    const about = { event: 'job start unknown', jobId: job.lease.jobId, err: error }
    deps.log.debug(about, 'job start unknown')
    await moves.giveBack(job, unknownStartMs)
    return
  }
  if (started.outcome === 'started') {
    await runStarted(admitted, started, deps)
    return
  }
  if (started.outcome === 'refused') await startRefused(job, started.error, deps)
  deps.onEntered(job)
  if (started.outcome === 'paused') await moves.giveBack(job)
}

/** A job that the storage won't start must not be fetched again in the same breath. */
const unknownStartMs = 1_000

/** What the storage refuses now it will refuse again, until a person has mended it. */
const refusedStartMs = 60_000

async function startRefused(
  job: FetchedJob,
  error: unknown,
  { moves, log }: ProcessDependencies,
): Promise<void> {
  const about = { jobId: job.lease.jobId, type: job.type, err: error }
  log.error({ event: 'job move refused', move: 'start', ...about }, 'job move refused')
  await moves.giveBack(job, refusedStartMs)
}
