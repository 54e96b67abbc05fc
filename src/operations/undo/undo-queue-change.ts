/**
 * Takes a change of a queue back, its pause or its limits, as long as nobody has changed it since. As
 * the change itself, it is one statement of the retry core, and the line follows at once.
 */

import { z } from 'zod'
import { ChokaqError, type JobOperator } from '../../chokaq/index.js'
import { UndoRefused, type UndoableLine } from './undoable-line.js'

type ChangeQueue = JobOperator['changeQueue']

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

/** @throws UndoRefused */
export async function undoQueueChange(
  moves: { readonly changeQueue: ChangeQueue },
  { before }: UndoableLine,
  by: string,
): Promise<void> {
  const { queue, version, ...settings } = kept.parse(before)
  try {
    await moves.changeQueue(queue, settings, { by, ifVersion: version })
  } catch (error) {
    if (error instanceof ChokaqError && error.code === 'QUEUE_CHANGED')
      throw new UndoRefused('CHANGED_SINCE', 'the queue was changed since')
    throw error
  }
}
