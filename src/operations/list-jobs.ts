/** Durable jobs as lists and JSON show them: times as RFC 3339, what a place has not as null. */

import type { JobFilter, JobRecord, JobState, JobStorage } from '../chokaq/index.js'
import { AppError } from '../errors.js'
import type { Page, PageRequest } from './page.js'

export interface JobLine {
  readonly id: string
  readonly type: string
  readonly queue: string
  /** hot: live; archive: succeeded; dlq: dead letters. */
  readonly place: JobRecord['place']
  readonly state: JobState
  /** Higher first. */
  readonly priority: number
  /** Runs begun. */
  readonly attempts: number
  /** 0 to 100, where the job has told. */
  readonly progress: number | null
  readonly tags: readonly string[]
  readonly createdBy: string | null
  readonly createdAt: string
  readonly dueAt: string | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  /** Of the run that succeeded. */
  readonly durationMs: number | null
  /** Why it is dead. */
  readonly reason: string | null
  /** Of the last run that is to be repeated. */
  readonly lastError: string | null
}

export interface JobDetail extends JobLine {
  /** JSON text. */
  readonly payload: string
  readonly checkpoint: string | null
  readonly idempotencyKey: string | null
  readonly owner: string | null
  /** Who last changed it by hand. */
  readonly modifiedBy: string | null
  readonly cancelRequestedBy: string | null
  /** The failure in full. */
  readonly details: string | null
}

export interface JobsFilter {
  /** Undefined: where jobs of the state are, else the live ones. */
  readonly place?: JobRecord['place'] | undefined
  readonly state?: JobState | undefined
  readonly queue?: string | undefined
  readonly type?: string | undefined
  /** Part of the last error, or of a dead letter's details. */
  readonly error?: string | undefined
}

export interface JobsQuery extends PageRequest, JobsFilter {}

/**
 * Live jobs newest first, ended ones latest first. `limit` is 1 to 500.
 *
 * @throws ChokaqError CURSOR_INVALID, FILTER_INVALID; AppError INPUT_INVALID where no job of that state
 *   can be in that place: an empty list would say that there is none
 */
export async function listJobs(
  storage: Pick<JobStorage, 'listJobs'>,
  { limit, cursor, ...chosen }: JobsQuery,
): Promise<Page<JobLine>> {
  const place = placeOf(chosen.place, chosen.state)
  const page = await storage.listJobs({ place, filter: filterOf(chosen), limit, cursor })
  return { items: page.items.map(toLine), nextCursor: page.nextCursor ?? null }
}

/** In the core's words. @throws AppError INPUT_INVALID where no job of that state can be in that place */
export function filterOf({ place, state, queue, type, error }: JobsFilter): JobFilter {
  placeOf(place, state)
  return { states: state === undefined ? undefined : [state], queue, type, errorContains: error }
}

const placeOfState: Readonly<Record<JobState, JobRecord['place']>> = {
  Pending: 'hot',
  Fetched: 'hot',
  Processing: 'hot',
  Succeeded: 'archive',
  Failed: 'dlq',
  Cancelled: 'dlq',
  Zombie: 'dlq',
}

function placeOf(
  place: JobRecord['place'] | undefined,
  state: JobState | undefined,
): JobRecord['place'] {
  const ofState = state && placeOfState[state]
  if (place !== undefined && ofState !== undefined && place !== ofState) {
    throw new AppError(
      'INPUT_INVALID',
      `No job in ${place} is ${state}: those are in ${ofState}. Leave the place out, or name that one.`,
    )
  }
  return place ?? ofState ?? 'hot'
}

/** The job, or undefined: unknown, or deleted after its retention. */
export async function showJob(
  storage: Pick<JobStorage, 'findJob'>,
  id: string,
): Promise<JobDetail | undefined> {
  const job = await storage.findJob(id)
  if (job === undefined) return undefined
  return {
    ...toLine(job),
    payload: job.payload,
    checkpoint: job.checkpoint ?? null,
    idempotencyKey: job.idempotencyKey ?? null,
    owner: job.owner ?? null,
    modifiedBy: job.modifiedBy ?? null,
    cancelRequestedBy: ('cancelRequestedBy' in job ? job.cancelRequestedBy : undefined) ?? null,
    details: 'details' in job ? job.details : null,
  }
}

function toLine(job: JobRecord): JobLine {
  const { id, type, queue, place, state, priority, attempts, tags } = job
  return {
    ...{ id, type, queue, place, state, priority, attempts, tags },
    progress: (job.place === 'hot' ? job.progress : undefined) ?? null,
    createdBy: job.createdBy ?? null,
    createdAt: timeText(job.createdAtMs),
    dueAt: job.place === 'hot' ? timeText(job.dueAtMs) : null,
    startedAt: job.startedAtMs === undefined ? null : timeText(job.startedAtMs),
    finishedAt: job.place === 'hot' ? null : timeText(job.finishedAtMs),
    durationMs: job.place === 'archive' ? job.durationMs : null,
    reason: job.place === 'dlq' ? job.reason : null,
    lastError: (job.place === 'hot' ? job.lastError : undefined) ?? null,
  }
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
