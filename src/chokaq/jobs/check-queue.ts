/** Refuses settings of a queue that can't be meant, before anything is stored. */

import { ChokaqError } from '../errors.js'
import type { QueueChanges } from '../storage/operator-port.js'
import { limits } from './limits.js'

/** @throws ChokaqError QUEUE_LIMIT_INVALID */
export function checkQueueChanges(changes: QueueChanges): void {
  const { min, max } = limits.maxWorkers
  checkWhole('maxWorkers', changes.maxWorkers, min, max)
  checkWhole('zombieTimeoutMs', changes.zombieTimeoutMs, 1, limits.delayMs)
  checkWhole('timeoutMs', changes.timeoutMs, 1, limits.delayMs)
}

/**
 * A worker says no more often than this that its jobs live.
 *
 * @throws ChokaqError QUEUE_LIMIT_INVALID
 */
export function checkZombieTimeout(
  { zombieTimeoutMs }: Pick<QueueChanges, 'zombieTimeoutMs'>,
  heartbeatMaxMs: number,
): void {
  if (typeof zombieTimeoutMs !== 'number' || zombieTimeoutMs > heartbeatMaxMs) return
  throw new ChokaqError(
    'QUEUE_LIMIT_INVALID',
    `zombieTimeoutMs is above ${heartbeatMaxMs}, the longest heartbeat, or jobs that live would be ` +
      `taken for dead; not ${zombieTimeoutMs}.`,
  )
}

export function queueChanged(name: string): ChokaqError {
  return new ChokaqError(
    'QUEUE_CHANGED',
    `Someone has changed the queue ${name} since. Look at it, and decide anew.`,
  )
}

function checkWhole(
  name: string,
  value: number | null | undefined,
  min: number,
  max: number,
): void {
  if (value === undefined || value === null) return
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new ChokaqError(
    'QUEUE_LIMIT_INVALID',
    `${name} is a whole number from ${min} to ${max}, or null for none; not ${value}.`,
  )
}
