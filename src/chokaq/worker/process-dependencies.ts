/** What the steps of processing a job share: one worker's parts. */

import type { FetchedJob } from '../jobs/job.js'
import type { Random } from '../kernel/backoff.js'
import type { ConcurrencyLimiter } from '../kernel/concurrency-limiter.js'
import type { Pipeline } from '../middleware/middleware.js'
import type { CoreEvents, CoreLog, MonotonicClock } from '../ports.js'
import type { RunAbort } from './abort.js'
import type { AdmissionRules } from './admit-job.js'
import type { Alarms } from './alarms.js'
import type { Heartbeat, HeartbeatOptions } from './heartbeat.js'
import type { JobMoves } from './job-moves.js'
import type { WorkerOptions } from './worker-options.js'

/** A job of this worker's whose handler runs, or is about to. */
export interface ActiveRun {
  readonly job: FetchedJob
  readonly abort: RunAbort
  readonly heartbeat: Heartbeat
}

export interface ProcessDependencies {
  readonly options: WorkerOptions
  readonly admission: AdmissionRules
  readonly pipeline: Pipeline
  readonly limiter: ConcurrencyLimiter
  readonly alarms: Alarms
  readonly heartbeat: HeartbeatOptions
  readonly moves: JobMoves
  readonly saveCheckpoint: (job: FetchedJob, json: string, trx: unknown) => Promise<boolean>
  readonly events: CoreEvents
  readonly log: CoreLog
  readonly random: Random
  readonly now: MonotonicClock
  /** Nothing new is begun after it. */
  readonly stopping: AbortSignal
  readonly abortGraceMs: () => number
  readonly runs: Set<ActiveRun>
  /** The job has its lane, or needs none: the next one may come in. Later calls do nothing. */
  readonly onEntered: (job: FetchedJob) => void
  /** A lane is free again, after a run of so many milliseconds; undefined where none began. */
  readonly onLaneFree: (runMs: number | undefined) => void
}
