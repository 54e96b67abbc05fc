/**
 * What operators do to durable jobs and their queues, each with its line in the audit. The move is one
 * statement of the retry core, which keeps who did it with the job; the line follows at once.
 */

import { sql, type Kysely } from 'kysely'
import type { JobOperator } from '../chokaq/index.js'
import { AppError } from '../errors.js'
import type { Database } from '../postgres/schema.js'
import { appendOverall, lineOfRequest, type AuditEntry } from './audit-trail.js'
import { quoted, type Order } from './read-input.js'
import { beforeQueueChange } from './undo/undo-queue-change.js'

/** The core's operator, or the like of it where no core runs. */
export type JobMoves = JobOperator

export interface JobsContext {
  readonly db: Kysely<Database>
  readonly moves: JobMoves
}

/** `done` false: why nothing was changed. */
export type JobEnd =
  { readonly done: true; readonly note: string } | { readonly done: false; readonly why: string }

/** @throws ChokaqError */
export async function cancelJob(context: JobsContext, id: string, order: Order): Promise<JobEnd> {
  const { outcome } = await context.moves.cancel(id, order)
  switch (outcome) {
    case 'cancelled':
      return onRecord(context, 'job-cancel', id, order, 'cancelled')
    case 'requested':
      return onRecord(context, 'job-cancel', id, order, 'it runs, and ends at its next heartbeat')
    case 'not-live':
      return unlessDone(context, 'job-cancel', id, order, 'no live job has this id')
    case 'refused':
      return { done: false, why: 'the database refused it; the log of the server says why' }
  }
}

export interface JobEdits {
  /** JSON text. */
  readonly payload?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly priority?: number | undefined
}

/** A dead letter begins anew, with all its attempts. @throws ChokaqError where an edit can't be */
export async function resurrectJob(
  context: JobsContext,
  id: string,
  order: Order,
  edits: JobEdits,
): Promise<JobEnd> {
  const result = await context.moves.resurrect(id, { by: order.by, edits })
  switch (result.outcome) {
    case 'resurrected':
      return onRecord(context, 'job-resurrect', id, order, 'resurrected')
    case 'not-dead':
      return unlessDone(context, 'job-resurrect', id, order, 'no dead letter has this id')
    case 'key-taken':
      return { done: false, why: `job ${result.by} has its idempotency key, and lives` }
    case 'refused':
      return { done: false, why: 'the database refused it; the log of the server says why' }
  }
}

/** @throws ChokaqError PRIORITY_OUT_OF_RANGE */
export async function prioritizeJob(
  context: JobsContext,
  id: string,
  order: Order,
  priority: number,
): Promise<JobEnd> {
  const { outcome } = await context.moves.setPriority(id, { by: order.by, priority })
  if (outcome === 'changed')
    return onRecord(context, 'job-priority', id, order, `priority ${priority}`)
  return unlessDone(context, 'job-priority', id, order, 'no job that still waits has this id')
}

type JobAction = 'job-cancel' | 'job-resurrect' | 'job-priority'

/** Once for each request: one that was broken off and is sent again has its line. */
async function onRecord(
  { db }: JobsContext,
  action: JobAction,
  id: string,
  order: Order,
  note: string,
): Promise<JobEnd> {
  const entry = entryOf(action, id, order)
  if ((await lineOfRequest(db, entry)) === undefined) await appendOverall(db, entry, 1)
  return { done: true, note }
}

/** What the same request has done in a try that was broken off is done, and nobody else's doing. */
async function unlessDone(
  { db }: JobsContext,
  action: JobAction,
  id: string,
  order: Order,
  why: string,
): Promise<JobEnd> {
  const line = await lineOfRequest(db, entryOf(action, id, order))
  if (line === undefined) return { done: false, why }
  return { done: true, note: 'it was done before, by this same request' }
}

function entryOf(action: JobAction, id: string, order: Order): AuditEntry {
  return { action, order, filter: `job=${id}` }
}

export type QueueChanges = Parameters<JobOperator['changeQueue']>[1]
export type ChangedQueue = Awaited<ReturnType<JobOperator['changeQueue']>>

/** @param known by name @throws AppError NOT_FOUND: a slip must not make a queue */
export function refuseUnknownQueue(
  name: string,
  known: readonly { readonly name: string }[],
): void {
  if (known.some((queue) => queue.name === name)) return
  const names = known.map((queue) => queue.name).join(', ')
  throw new AppError('NOT_FOUND', `There is no queue ${quoted(name)}. There are ${names}.`)
}

/**
 * Makes the queue where there is none. Gives its settings and the line by which they can be put back.
 *
 * @throws ChokaqError QUEUE_INVALID, QUEUE_LIMIT_INVALID
 */
export async function changeQueue(
  { db, moves }: JobsContext,
  name: string,
  changes: QueueChanges,
  order: Order,
): Promise<ChangedQueue['settings'] & { readonly auditId: string }> {
  const changed = await moves.changeQueue(name, changes, { by: order.by })
  const what = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${String(value)}`)
  const filter = [`queue=${name}`, ...what].join(' ')
  const before = sql`${beforeQueueChange(name, changed)}::text`
  const auditId = await appendOverall(db, { action: 'queue-change', order, filter }, 1, before)
  return { ...changed.settings, auditId }
}
