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
/** Leaves room for the longest class, and is far more than any code that is one. */
const longestCode = 500

/** What an error thrown by a row's work means for the row; infrastructure means nothing for it. */
export function classifyRowFailure(
  error: unknown,
): RowFailure | { readonly class: 'infrastructure'; readonly code: string } {
  if (error instanceof GuardRejection) return { class: 'guard', code: error.code }
  const failure = classifyFailure(error)
  const code = storable(failure.code, longestCode)
  return { class: failure.class, code: code === '' ? 'Error' : code }
}

/** Fits the column whatever the code holds, or the write of the failure would fail in its turn. */
export function lastErrorText(failure: RowFailure): string {
  return storable(`${failure.class}:${failure.code}`, longestLastError)
}

/**
 * Without control characters: U+0000 can't be stored in text, and others play tricks on the terminal
 * of whoever reads them. Made well-formed after the cut, which may split a pair: a lone surrogate
 * can't be encoded.
 */
function storable(text: string, length: number): string {
  return text
    .replace(/\p{Control}/gu, '')
    .slice(0, length)
    .toWellFormed()
}
