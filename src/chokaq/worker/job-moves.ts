/**
 * The worker's moves of jobs: batched, written until the storage has answered, and only then counted
 * and announced. What comes too late is a conflict: counted, never announced.
 */

import type { FetchedJob } from '../jobs/job.js'
import { backoffMs, type Random } from '../kernel/backoff.js'
import type { FailureReason } from '../kernel/failure.js'
import type { JobState, MoveName } from '../kernel/job-state.js'
import type { CoreEvents, CoreLog, CoreMetrics } from '../ports.js'
import type {
  HeartbeatResult,
  MoveResult,
  RetryResult,
  StartResult,
  WorkerPort,
} from '../storage/worker-port.js'
import { batched } from './batched.js'
import { pause } from './waiting.js'

/** Zombies are made by the rescue alone. */
export type DeathReason = Exclude<FailureReason, 'Zombie'>

export interface JobMoves {
  /** Not repeated: where it throws, the job is given back. */
  start(job: FetchedJob): Promise<StartResult>
  heartbeat(job: FetchedJob, progress: number | undefined): Promise<HeartbeatResult>
  succeed(job: FetchedJob, durationMs: number): Promise<void>
  retry(
    job: FetchedJob,
    run: { readonly delayMs: number; readonly error: string; readonly refundAttempt?: boolean },
  ): Promise<void>
  deadLetter(
    job: FetchedJob,
    death: {
      readonly reason: DeathReason
      readonly details: string
      readonly durationMs?: number
      /** The handler has not begun. */
      readonly refundAttempt?: boolean
    },
  ): Promise<void>
  /** Of a job whose handler has not begun, whether it was started or not. */
  giveBack(job: FetchedJob, delayMs?: number): Promise<void>
}

export interface JobMovesDependencies {
  readonly storage: WorkerPort
  readonly metrics: CoreMetrics
  readonly events: CoreEvents
  readonly log: CoreLog
  readonly random: Random
  /** Ends the repeating of writes: the process goes, and the rescue does the rest. */
  readonly abandoned: AbortSignal
  /** Called after jobs have left the worker, so that a queue may have room again. */
  readonly onMoved: () => void
  /**
   * Its handler may have run, and the storage won't let it go or hasn't answered while there was time: it
   * stays as it is, until the rescue finds it.
   */
  readonly onStranded: (job: FetchedJob) => void
}

/** Rows of one statement; more lanes than this is no sound setting for one process. */
const maxBatch = 500

/** Between tries of one write: short, for a job that has ended holds up its queue's limit. */
const rewrite = { baseMs: 200, factor: 2, capMs: 5_000, jitter: 0.5 }

type Move = 'start' | 'heartbeat' | 'succeed' | 'retry' | 'deadLetter' | 'giveBack'
type Item<M extends Move> = Parameters<WorkerPort[M]>[0][number]
type Result<M extends Move> = Awaited<ReturnType<WorkerPort[M]>>[number]
type Answer = MoveResult | RetryResult

export function createJobMoves(deps: JobMovesDependencies): JobMoves {
  const { storage, metrics, events, log, abandoned } = deps
  const start = batched<Item<'start'>, Result<'start'>>((leases) => storage.start(leases), maxBatch)
  const heartbeat = batched<Item<'heartbeat'>, Result<'heartbeat'>>(
    (beats) => storage.heartbeat(beats),
    maxBatch,
  )
  const succeed = batched<Item<'succeed'>, Result<'succeed'>>(
    (items) => storage.succeed(items),
    maxBatch,
  )
  const retry = batched<Item<'retry'>, Result<'retry'>>((items) => storage.retry(items), maxBatch)
  const deadLetter = batched<Item<'deadLetter'>, Result<'deadLetter'>>(
    (items) => storage.deadLetter(items),
    maxBatch,
  )
  const giveBack = batched<Item<'giveBack'>, Result<'giveBack'>>(
    (items) => storage.giveBack(items),
    maxBatch,
  )

  /** Undefined where the worker was stopped before the storage answered. */
  const untilAnswered = async <I, A extends Answer>(
    job: FetchedJob,
    write: (item: I) => Promise<A>,
    item: I,
  ): Promise<A | undefined> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await write(item)
      } catch (error) {
        const about = { jobId: job.lease.jobId, type: job.type, tries, err: error }
        if (abandoned.aborted) {
          log.error({ event: 'job outcome not stored', ...about }, 'job outcome not stored')
          deps.onStranded(job)
          return undefined
        }
        log.debug(
          { event: 'job outcome is written again', ...about },
          'job outcome is written again',
        )
        await pause(backoffMs(rewrite, tries, deps.random), abandoned)
      }
    }
  }

  /** True where the move was made. */
  const account = (job: FetchedJob, move: MoveName, answer: Answer | undefined): boolean => {
    if (answer?.outcome === 'stale') {
      metrics.stateConflict(job, move)
      const about = { event: 'job was taken away', jobId: job.lease.jobId, type: job.type, move }
      log.warn(about, 'job was taken away')
    } else if (answer?.outcome === 'refused') {
      // Nothing else can be done for it here: without heartbeat the rescue finds it.
      const about = { jobId: job.lease.jobId, type: job.type, move, err: answer.error }
      log.error({ event: 'job move refused', ...about }, 'job move refused')
      deps.onStranded(job)
    }
    return answer?.outcome === 'moved'
  }

  const announce = (job: FetchedJob, state: JobState): void => {
    events.emit({ kind: 'job', id: job.lease.jobId, queue: job.queue, state })
    deps.onMoved()
  }

  const cancelled = (job: FetchedJob): void => {
    metrics.failed(job, 'Cancelled')
    announce(job, 'Cancelled')
  }

  return {
    start: async (job) => {
      const answer = await start(job.lease)
      if (answer.outcome === 'stale') metrics.stateConflict(job, 'start')
      if (answer.outcome === 'started') {
        events.emit({ kind: 'job', id: job.lease.jobId, queue: job.queue, state: 'Processing' })
      }
      return answer
    },

    heartbeat: (job, progress) => heartbeat({ lease: job.lease, progress }),

    async succeed(job, durationMs) {
      const { lease } = job
      const answer = await untilAnswered(job, succeed, { lease, durationMs })
      if (!account(job, 'succeed', answer)) return
      metrics.succeeded(job, durationMs / 1_000)
      announce(job, 'Succeeded')
    },

    async retry(job, run) {
      const answer = await untilAnswered(job, retry, { lease: job.lease, ...run })
      if (answer?.outcome === 'cancelled') cancelled(job)
      if (!account(job, 'retry', answer)) return
      if (run.refundAttempt !== true) metrics.retried(job)
      announce(job, 'Pending')
    },

    async deadLetter(job, death) {
      const answer = await untilAnswered(job, deadLetter, { lease: job.lease, ...death })
      if (!account(job, death.reason === 'Cancelled' ? 'cancel' : 'fail', answer)) return
      metrics.failed(job, death.reason)
      announce(job, death.reason === 'Cancelled' ? 'Cancelled' : 'Failed')
    },

    async giveBack(job, delayMs) {
      const { lease } = job
      const answer = await untilAnswered(job, giveBack, { lease, delayMs })
      if (answer?.outcome === 'cancelled') cancelled(job)
      if (account(job, 'giveBack', answer)) announce(job, 'Pending')
    },
  }
}
