/** What happens to a provision next, and when, in words for whoever looks at it. Pure. */

import type { RetryOptions } from '../config/config.js'
import type { ProvisionStatus } from '../postgres/schema.js'

export interface NextStepRow {
  readonly status: ProvisionStatus
  readonly attempts: number
  readonly lastError: string | null
  /** RFC 3339 in UTC, or ±infinity, as lists have it. */
  readonly nextAttemptAt: string
  readonly updatedAt: string
}

type Limits = Pick<RetryOptions, 'maxAttempts' | 'stuckProvisioningAfterMs' | 'pollingIntervalMs'>

/**
 * @param nowMs the database's clock
 * @returns one or two sentences
 */
export function nextStep(row: NextStepRow, limits: Limits, nowMs: number): string {
  const { maxAttempts } = limits
  if (row.status === 'Ready') return 'Nothing: its chat is made.'
  if (row.status === 'Provisioning') {
    const stuckAt = timeOf(row.updatedAt) + limits.stuckProvisioningAfterMs
    if (stuckAt > nowMs)
      return (
        `Whoever began it is at it. If it still hangs at ${clock(stuckAt)}, ` +
        'the cycle after that takes it up.'
      )
    if (row.attempts >= maxAttempts)
      return 'It hangs and is out of attempts: the next cycle closes it as failed, and tells crm.'
  } else if (row.attempts >= maxAttempts) {
    const cause = row.lastError === null ? 'the cause' : `the cause, ${short(row.lastError)},`
    return `Nothing by itself: it is out of attempts. Mend ${cause} and re-enqueue it.`
  }
  const attempt = `attempt ${row.attempts + 1} of ${maxAttempts}`
  const due = timeOf(row.nextAttemptAt)
  if (due === Number.POSITIVE_INFINITY) return `Nothing: ${attempt} is put off for ever.`
  if (due > nowMs)
    return `${capital(attempt)} is due at ${clock(due)}; the cycle after that makes it.`
  const within = Math.ceil(limits.pollingIntervalMs / 1_000)
  return `${capital(attempt)} is due now: the next cycle makes it, within ${within} s.`
}

/** Codes are shorter; of somebody's text its beginning is enough in a sentence. */
const longestCause = 80

function short(text: string): string {
  return text.length > longestCause ? `${text.slice(0, longestCause)}…` : text
}

function timeOf(text: string): number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  if (text === '-infinity') return Number.NEGATIVE_INFINITY
  return Date.parse(text)
}

function clock(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15
    ? `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
    : 'a time far off'
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
