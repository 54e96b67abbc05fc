/**
 * What operators do to durable jobs and their queues. Each move commits together with its line in the
 * audit, and a request that is sent again finds its line and moves nothing.
 */

import { sql, type Kysely, type Transaction } from 'kysely'
import type { CallersTransaction, JobOperator } from '../chokaq/index.js'
import { AppError } from '../errors.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { appendOverall, lineOfRequest, type AuditedAction, type AuditEntry } from './audit-trail.js'
import { lockRequest } from './once.js'
import { quoted, type Order } from './read-input.js'
import { beforeQueueChange, settingsBefore } from './undo/undo-queue-change.js'

/** The core's operator, or the like of it where no core runs. */
export type JobMoves = JobOperator<CallersTransaction>

export interface JobsContext {
  readonly db: Kysely<Database>
  readonly moves: JobMoves
}

/** `done` false: why nothing was changed. */
export type JobEnd =
  { readonly done: true; readonly note: string } | { readonly done: false; readonly why: string }

const refusedByDatabase: JobEnd = {
  done: false,
  why: 'the database refused it; the log of the server says why',
}

/** @throws ChokaqError */
export function cancelJob(context: JobsContext, id: string, order: Order): Promise<JobEnd> {
  return moveOnce(
    context,
    { action: 'job-cancel', id, order, known: 'cancelled, or asked to end' },
    {
      move: (trx) => context.moves.cancel(id, order, trx),
      endOf({ outcome }) {
        switch (outcome) {
          case 'cancelled':
            return { done: true, note: 'cancelled' }
          case 'requested':
            return { done: true, note: 'it runs, and ends at its next heartbeat' }
          case 'not-live':
            return { done: false, why: 'no live job has this id' }
          case 'refused':
            return refusedByDatabase
        }
      },
    },
  )
}

export interface JobEdits {
  /** JSON text. */
  readonly payload?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly priority?: number | undefined
}

/** A dead letter begins anew, with all its attempts. @throws ChokaqError where an edit can't be */
export function resurrectJob(
  context: JobsContext,
  id: string,
  order: Order,
  edits: JobEdits,
): Promise<JobEnd> {
  return moveOnce(
    context,
    { action: 'job-resurrect', id, order, known: 'resurrected' },
    {
      move: (trx) => context.moves.resurrect(id, { by: order.by, edits }, trx),
      endOf(result) {
        switch (result.outcome) {
          case 'resurrected':
            return { done: true, note: 'resurrected' }
          case 'not-dead':
            return { done: false, why: 'no dead letter has this id' }
          case 'key-taken':
            return { done: false, why: `job ${result.by} has its idempotency key, and lives` }
          case 'refused':
            return refusedByDatabase
        }
      },
    },
  )
}

/** @throws ChokaqError PRIORITY_OUT_OF_RANGE */
export function prioritizeJob(
  context: JobsContext,
  id: string,
  order: Order,
  priority: number,
): Promise<JobEnd> {
  const note = `priority ${priority}`
  return moveOnce(
    context,
    { action: 'job-priority', id, order, known: note },
    {
      move: (trx) => context.moves.setPriority(id, { by: order.by, priority }, trx),
      endOf: ({ outcome }) =>
        outcome === 'changed'
          ? { done: true, note }
          : { done: false, why: 'no job that still waits has this id' },
    },
  )
}

interface JobOrder {
  readonly action: AuditedAction
  readonly id: string
  readonly order: Order
  /** What is said of it where the same request has done it before. */
  readonly known: string
}

type Outcome = Extract<Parameters<JobMoves['announce']>[0], { jobId: string }>['outcome']

async function moveOnce<Result extends { readonly outcome: Outcome }>(
  { db, moves }: JobsContext,
  { action, id, order, known }: JobOrder,
  steps: {
    readonly move: (trx: Transaction<Database>) => Promise<Result>
    readonly endOf: (result: Result) => JobEnd
  },
): Promise<JobEnd> {
  const entry: AuditEntry = { action, order, filter: `job=${id}` }
  const { end, outcome } = await inRowTransaction(db, async (trx) => {
    await lockRequest(trx, order)
    if ((await lineOfRequest(trx, entry)) !== undefined)
      return { end: { done: true, note: known } as const, outcome: undefined }
    const result = await steps.move(trx)
    const made = steps.endOf(result)
    if (made.done) await appendOverall(trx, entry, 1)
    return { end: made, outcome: result.outcome }
  })
  // It is done: that nobody is told at once takes nothing from it.
  if (outcome !== undefined) await moves.announce({ jobId: id, outcome }).catch(() => undefined)
  return end
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
 * Makes the queue where there is none. Gives its settings as this change left them, and the line by which
 * they can be put back.
 *
 * @throws ChokaqError QUEUE_INVALID, QUEUE_LIMIT_INVALID
 */
export async function changeQueue(
  { db, moves }: JobsContext,
  name: string,
  changes: QueueChanges,
  order: Order,
): Promise<ChangedQueue['settings'] & { readonly auditId: string }> {
  const what = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${String(value)}`)
  const filter = [`queue=${name}`, ...what].join(' ')
  const entry: AuditEntry = { action: 'queue-change', order, filter }
  const { isRepeat, ...end } = await inRowTransaction(db, async (trx) => {
    await lockRequest(trx, order)
    const line = await lineOfRequest(trx, entry)
    if (line !== undefined) {
      const before = await settingsBefore(trx, line)
      return { isRepeat: true, settings: changedBy(before, changes), auditId: line }
    }
    const changed = await moves.changeQueue(name, changes, { by: order.by }, trx)
    const before = sql`${beforeQueueChange(name, changed)}::text`
    const auditId = await appendOverall(trx, entry, 1, before)
    return { isRepeat: false, settings: changed.settings, auditId }
  })
  if (!isRepeat) await moves.announce({ queue: name }).catch(() => undefined)
  return { ...end.settings, auditId: end.auditId }
}

function changedBy(
  before: Awaited<ReturnType<typeof settingsBefore>>,
  changes: QueueChanges,
): ChangedQueue['settings'] {
  const limit = (name: 'maxWorkers' | 'zombieTimeoutMs' | 'timeoutMs') =>
    (changes[name] === undefined ? before[name] : changes[name]) ?? undefined
  return {
    paused: changes.paused ?? before.paused,
    maxWorkers: limit('maxWorkers'),
    zombieTimeoutMs: limit('zombieTimeoutMs'),
    timeoutMs: limit('timeoutMs'),
  }
}
