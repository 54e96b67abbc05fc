/**
 * Numbers that handlers and dependencies bring along, brought into the range that can be stored: a
 * Retry-After of a thousand years, or a progress of NaN, must not make the writing of an outcome fail.
 */

import { limits } from './limits.js'

export const storableDelayMs = (ms: number): number => within(ms, limits.delayMs)

export const storableDurationMs = (ms: number): number => within(ms, limits.delayMs)

/** Whole per cent. */
export const storableProgress = (percent: number): number => Math.round(within(percent, 100))

function within(value: number, max: number): number {
  return Number.isNaN(value) ? 0 : Math.min(max, Math.max(0, value))
}
