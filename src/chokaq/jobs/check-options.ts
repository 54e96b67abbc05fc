/** Refuses options of a worker or of a definition that can't be meant: NaN would be a limit that never ends. */

import { ChokaqError } from '../errors.js'
import type { BackoffPolicy } from '../kernel/backoff.js'
import { limits } from './limits.js'

/** What each option may be; `whole` numbers have no fraction, Infinity is allowed where `max` is. */
export interface Range {
  readonly min: number
  readonly max: number
  readonly whole?: boolean
}

/** A duration that has to pass. */
export const someTime: Range = { min: 1, max: limits.delayMs }
/** An age or a run that may also have no limit. */
export const anyTime: Range = { min: 0, max: Infinity }
export const someRuns: Range = { min: 1, max: 2 ** 31 - 1, whole: true }

/** @param options absent ones are not looked at @throws ChokaqError OPTION_INVALID, for the first at fault */
export function checkNumbers<K extends string>(
  options: Readonly<Partial<Record<NoInfer<K>, unknown>>>,
  ranges: Readonly<Record<K, Range>>,
): void {
  for (const [name, range] of Object.entries<Range>(ranges)) {
    const value = options[name as K]
    if (value !== undefined) checkNumber(name, value, range)
  }
}

function checkNumber(name: string, value: unknown, { min, max, whole = false }: Range): void {
  const isNumber = typeof value === 'number' && value >= min && value <= max
  if (isNumber && (!whole || Number.isInteger(value))) return
  const kind = whole ? 'a whole number' : 'a number'
  const range = max === Infinity ? `≥ ${min}` : `from ${min} to ${max}`
  throw new ChokaqError('OPTION_INVALID', `${name} is ${kind} ${range}; not ${String(value)}.`)
}

/** @throws ChokaqError OPTION_INVALID */
export function checkBackoff(policy: BackoffPolicy | undefined): void {
  if (policy === undefined) return
  const { baseMs, factor, capMs, jitter } = policy
  checkNumber('backoff.baseMs', baseMs, { min: Number.MIN_VALUE, max: limits.delayMs })
  checkNumber('backoff.factor', factor, { min: 1, max: Number.MAX_VALUE })
  checkNumber('backoff.capMs', capMs, { min: baseMs, max: limits.delayMs })
  checkNumber('backoff.jitter', jitter, { min: 0, max: 1 })
}
