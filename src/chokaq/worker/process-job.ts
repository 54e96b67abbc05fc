/**
 * One fetched job to its end in this worker: admitted, started, run, settled. The gate before the
 * handler is the start, which the storage grants to one lease only.
 */

import type { FetchedJob } from '../jobs/job.js'
import type { StartResult } from '../storage/worker-port.js'
import { admitJob, type Admission } from './admit-job.js'
import type { ProcessDependencies } from './process-dependencies.js'
import { runStarted } from './run-started.js'
import { defaultBreaker, defaultMaxAgeMs } from './worker-options.js'

/**
 * @param fetchedAt monotonic, when it was fetched
 * @returns resolves when the outcome is stored; rejects only by a fault of the program
 */
export async function processJob(
  job: FetchedJob,
  fetchedAt: number,
  deps: ProcessDependencies,
): Promise<void> {
  const { moves, registry, breakers, random, now, options } = deps
  const ageMs = (): number => job.ageMs + now() - fetchedAt
  try {
    const verdict = admitJob(job, ageMs(), {
      registry,
      breakers,
      random,
      openMs: (options.breaker ?? defaultBreaker).openMs,
      maxAttempts: options.maxAttempts,
      maxAgeMs: options.maxAgeMs ?? defaultMaxAgeMs,
    })
    const admission = verdict instanceof Promise ? await verdict : verdict
    if (admission.kind === 'admitted') {
      try {
        await startAndRun(job, admission, ageMs, deps)
      } finally {
        // Says nothing where the run's end has been told: a lease that is kept would block its circuit.
        admission.circuit.released()
      }
      return
    }
    deps.onEntered(job)
    if (admission.kind === 'postponed') await moves.giveBack(job, admission.delayMs)
    else {
      const about = { jobId: job.lease.jobId, type: job.type, queue: job.queue }
      deps.log.error({ event: 'job failed', ...about, reason: admission.reason }, 'job failed')
      await moves.deadLetter(job, { ...admission, refundAttempt: true })
    }
  } finally {
    // In any case: a place that is not given back would be gone for good.
    deps.onEntered(job)
  }
}

async function startAndRun(
  job: FetchedJob,
  admission: Extract<Admission, { kind: 'admitted' }>,
  ageMs: () => number,
  deps: ProcessDependencies,
): Promise<void> {
  const { moves, stopping } = deps
  if (stopping.aborted) {
    deps.onEntered(job)
    await moves.giveBack(job)
    return
  }
  if (job.started !== undefined) {
    deps.events.emit({ kind: 'job', id: job.lease.jobId, queue: job.queue, state: 'Processing' })
    await runStarted({ job, admission, started: job.started, ageMs }, deps)
    return
  }
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
    await runStarted({ job, admission, started, ageMs }, deps)
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
