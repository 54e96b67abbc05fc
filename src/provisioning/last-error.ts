/** The text of last_error, `class:code`: what on-call filters by. Never personal data. */

import { classifyFailure } from '../postgres/failure-class.js'
import { GuardRejection } from './guards.js'

export type RowFailureClass = 'guard' | 'constraint' | 'data' | 'bug' | 'contention' | 'crash'

export interface RowFailure {
  readonly class: RowFailureClass
  /** A guard's code, WORKER_DIED, the SQLSTATE or the error's name. */
  readonly code: string
}

export const workerDied: RowFailure = { class: 'crash', code: 'WORKER_DIED' }

/** The column's width. */
const longestLastError = 512

/** What an error thrown by a row's work means for the row; infrastructure means nothing for it. */
export function classifyRowFailure(
  error: unknown,
): RowFailure | { readonly class: 'infrastructure'; readonly code: string } {
  if (error instanceof GuardRejection) return { class: 'guard', code: error.code }
  const failure = classifyFailure(error)
  return { class: failure.class, code: failure.code }
}

/**
 * Fits the column whatever the error's name holds: U+0000 can't be stored in text, nor can a lone
 * surrogate be encoded, and either would make the write of the failure fail in its turn.
 */
export function lastErrorText(failure: RowFailure): string {
  const text = `${failure.class}:${failure.code}`.replaceAll('\u0000', '')
  // Made well-formed after the cut, which may split a pair.
  return text.slice(0, longestLastError).toWellFormed()
}
