/** The worker: fetches jobs, runs them in its lanes, and stops in good order. */

import { setMaxListeners } from 'node:events'
import { createConcurrencyLimiter } from '../kernel/concurrency-limiter.js'
import type { CircuitState } from '../kernel/circuit-breaker.js'
import type { Random } from '../kernel/backoff.js'
import type { FetchedJob } from '../jobs/job.js'
import { composeMiddleware, type Middleware } from '../middleware/middleware.js'
import type { CoreEvents, CoreLog, CoreMetrics, MonotonicClock } from '../ports.js'
import type { JobRegistry } from '../registry/job-registry.js'
import type { WorkerPort } from '../storage/worker-port.js'
import { createAlarms } from './alarms.js'
import { createCircuitBreakers } from './circuit-breakers.js'
import { createFetchLoop } from './fetch-loop.js'
import { createJobMoves } from './job-moves.js'
import { createPace } from './pace.js'
import { createPrefetch } from './prefetch.js'
import type { ActiveRun, ProcessDependencies } from './process-dependencies.js'
import { processJob } from './process-job.js'
import { within } from './waiting.js'
import {
  defaultAbortGraceMs,
  defaultBreaker,
  defaultMaxAgeMs,
  type WorkerOptions,
} from './worker-options.js'

export interface Worker {
  /** Does nothing the second time, and after `stop`. */
  start(): void
  /**
   * Fetches no more, gives back what was only fetched, lets runs end, then aborts those that have not
   * and hands them back with their attempt. Bears being called twice, and before `start`.
   *
   * @param graceMs after which it resolves in any case
   */
  stop(graceMs: number): Promise<void>
  /** There may be new jobs. */
  wake(): void
  /** An operator wants this job ended: if it runs here, its worker asks at once and not at the next beat. */
  cancelRequested(jobId: string): void
  /** Lanes from now on, ≥ 0; lowering them ends no run. @throws RangeError */
  setConcurrency(lanes: number): void
  /** Milliseconds since the fetch loop last turned. */
  lastTryAgeMs(): number
  /** For pages and health. */
  status(): WorkerStatus
}

export interface WorkerStatus {
  readonly concurrency: number
  /** Handlers at work. */
  readonly running: number
  readonly circuits: ReadonlyMap<string, CircuitState>
}

export interface WorkerDependencies {
  readonly storage: WorkerPort<unknown>
  readonly registry: JobRegistry
  readonly middleware?: readonly Middleware[] | undefined
  readonly metrics: CoreMetrics
  readonly events: CoreEvents
  readonly log: CoreLog
  readonly random: Random
  readonly now: MonotonicClock
}

/** Of the grace: runs get the first part to end by themselves, aborted ones the second. */
const share = { drain: 0.6, abort: 0.25 }

/** One starts, one runs, one is being stored. */
const batchesHeld = 3

export function createWorker(options: WorkerOptions, deps: WorkerDependencies): Worker {
  const { storage, registry, metrics, events, log, random, now } = deps
  const limiter = createConcurrencyLimiter(options.concurrency)
  const { breaker = defaultBreaker } = options
  const breakers = createCircuitBreakers(breaker, now)
  const pace = createPace(now)
  const prefetch = createPrefetch({ limiter, pace, batchSize: options.batchSize })
  const stopping = new AbortController()
  const abandoned = new AbortController()
  // Every job that waits for a lane or for an answer listens: no leak, and not to be warned of as one.
  setMaxListeners(0, stopping.signal, abandoned.signal)
  const runs = new Set<ActiveRun>()
  /** Fetched and not settled yet. */
  const held = new Set<FetchedJob>()
  /** How many of those are on their way to a lane, run, or are being stored. */
  let underWay = 0
  let tellAllEnded: (() => void) | undefined
  let admitting = false
  /** Tokens of leases that were neither settled nor given back: their handlers may have run. */
  const leftToRescue = new Set<number>()
  /** On their way to a lane. */
  const entering = new Set<FetchedJob>()
  let abortGraceMs = options.abortGraceMs ?? defaultAbortGraceMs

  const loop = createFetchLoop({
    storage,
    owner: options.owner,
    queues: options.queues,
    pollIntervalMs: options.pollIntervalMs,
    // What has run and is not stored yet counts too: a storage that is slow to store gets no more.
    wanted: () => {
      const { jobs, start } = prefetch.wanted()
      const room = limiter.limit + batchesHeld * options.batchSize - underWay
      return { jobs: Math.max(0, Math.min(jobs, room)), start }
    },
    held: () => [...[...held].map(({ lease }) => lease.token), ...leftToRescue],
    onGivenBack: (jobs) =>
      jobs.forEach(({ id, queue }) => events.emit({ kind: 'job', id, queue, state: 'Pending' })),
    onFetched(jobs) {
      jobs.forEach((job) => held.add(job))
      prefetch.add(jobs, now())
      admit()
    },
    log,
    random,
    now,
  })

  const moves = createJobMoves({
    storage,
    metrics,
    events,
    log,
    random,
    abandoned: abandoned.signal,
    // A queue with MaxWorkers has room again.
    onMoved: () => loop.wake(),
    onStranded: ({ lease }) => leftToRescue.add(lease.token),
  })

  const alarms = createAlarms()
  const parts: ProcessDependencies = {
    options,
    pipeline: composeMiddleware(deps.middleware ?? []),
    limiter,
    alarms,
    heartbeat: { minMs: options.heartbeatMinMs, maxMs: options.heartbeatMaxMs, alarms, random },
    admission: {
      registry,
      breakers,
      openMs: breaker.openMs,
      maxAttempts: options.maxAttempts,
      maxAgeMs: options.maxAgeMs ?? defaultMaxAgeMs,
      random,
    },
    moves,
    saveCheckpoint: ({ lease }, json, trx) => storage.saveCheckpoint(lease, json, trx),
    events,
    log,
    random,
    now,
    stopping: stopping.signal,
    abortGraceMs: () => abortGraceMs,
    runs,
    onEntered(job) {
      if (!entering.delete(job)) return
      prefetch.entered()
      admit()
    },
    onLaneFree(runMs) {
      if (runMs !== undefined) pace.ended(runMs)
      admit()
      loop.roomFreed()
    },
  }

  /** A job may enter, run and end while it is admitted: what that asks for, the loop under way does. */
  function admit(): void {
    if (stopping.signal.aborted || admitting) return
    admitting = true
    for (let next = prefetch.next(); next !== undefined; next = prefetch.next()) {
      entering.add(next.job)
      void track(next.job, processJob(next.job, next.fetchedAt, parts))
    }
    admitting = false
  }

  async function track(job: FetchedJob, work: Promise<void>): Promise<void> {
    underWay += 1
    try {
      await work
    } catch (error) {
      // A fault of the program: the job is left to the rescue, the others go on.
      leftToRescue.add(job.lease.token)
      const about = { event: 'job processing failed', jobId: job.lease.jobId, err: error }
      log.error(about, 'job processing failed')
    } finally {
      underWay -= 1
      held.delete(job)
      if (underWay === 0) tellAllEnded?.()
    }
  }

  function allEnded(): Promise<void> {
    return new Promise((resolve) => {
      if (underWay === 0) resolve()
      else tellAllEnded = resolve
    })
  }

  let looping: Promise<void> | undefined
  let stopped: Promise<void> | undefined

  async function stop(graceMs: number): Promise<void> {
    stopping.abort()
    const ended = (async () => {
      await looping
      for (const { job } of prefetch.drain()) void track(job, moves.giveBack(job))
      // Where that can't be done now, the rescue does it: later it is no more known what was run.
      if (!abandoned.signal.aborted) await loop.settleLost().catch(() => undefined)
      await allEnded()
    })()
    await within(ended, graceMs * share.drain)
    if (underWay > 0) {
      abortGraceMs = graceMs * share.abort
      for (const { abort } of runs) abort.abort('shutdown')
      await within(ended, graceMs * (1 - share.drain))
    }
    abandoned.abort()
    const unsettled = { event: 'jobs left unsettled', jobs: underWay }
    if (underWay > 0) log.error(unsettled, 'jobs left unsettled')
  }

  return {
    start() {
      if (stopping.signal.aborted) return
      looping ??= loop.run(stopping.signal)
    },
    stop: (graceMs) => (stopped ??= stop(graceMs)),
    wake: () => loop.wake(),
    cancelRequested(jobId) {
      for (const { job, heartbeat } of runs) if (job.lease.jobId === jobId) heartbeat.beatNow()
    },
    setConcurrency(lanes) {
      limiter.setLimit(lanes)
      admit()
      loop.roomFreed()
    },
    lastTryAgeMs: () => loop.lastTryAgeMs(),
    status: () => ({
      concurrency: limiter.limit,
      running: limiter.active,
      circuits: breakers.states(),
    }),
  }
}
