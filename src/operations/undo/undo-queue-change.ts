/**
 * Takes a change of a queue back, its pause or its limits, as long as nobody has changed it since. As
 * the change itself, it commits together with its line.
 */

import { sql, type Transaction } from 'kysely'
import { z } from 'zod'
import { ChokaqError, type CallersTransaction, type JobOperator } from '../../chokaq/index.js'
import type { Database } from '../../postgres/schema.js'
import { UndoRefused, type UndoableLine } from './undoable-line.js'

type ChangeQueue = JobOperator<CallersTransaction>['changeQueue']

const limit = z.number().nullable()
const kept = z.object({
  queue: z.string(),
  version: z.string(),
  paused: z.boolean(),
  maxWorkers: limit,
  zombieTimeoutMs: limit,
  timeoutMs: limit,
})

/** JSON text. */
export function beforeQueueChange(
  queue: string,
  { before, version }: Awaited<ReturnType<ChangeQueue>>,
): string {
  const { paused, maxWorkers = null, zombieTimeoutMs = null, timeoutMs = null } = before
  const settings: z.output<typeof kept> = {
    ...{ queue, version, paused, maxWorkers, zombieTimeoutMs, timeoutMs },
  }
  return JSON.stringify(settings)
}

/** What the line of a change keeps. */
export async function settingsBefore(
  trx: Transaction<Database>,
  auditId: string,
): Promise<z.output<typeof kept>> {
  const { rows } = await sql<{ before: unknown }>`
    select a.before from messenger.chat_provision_audit a where a.id = ${auditId}::bigint
  `.execute(trx)
  return kept.parse(rows[0]?.before)
}

/** Gives the queue's name. @throws UndoRefused */
export async function undoQueueChange(
  moves: { readonly changeQueue: ChangeQueue },
  { before }: UndoableLine,
  by: string,
  trx: CallersTransaction,
): Promise<string> {
  const { queue, version, ...settings } = kept.parse(before)
  try {
    await moves.changeQueue(queue, settings, { by, ifVersion: version }, trx)
    return queue
  } catch (error) {
    if (error instanceof ChokaqError && error.code === 'QUEUE_CHANGED')
      throw new UndoRefused('CHANGED_SINCE', 'the queue was changed since')
    throw error
  }
}
