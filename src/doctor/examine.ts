/** One check under a time limit of its own: whatever becomes of it, it comes to a finding. */

import { AppError } from '../errors.js'
import { classifyFailure } from '../postgres/failure-class.js'
import { pause } from '../timers.js'
import { failed, skipped, type Finding, type Verdict } from './finding.js'

/** A check takes milliseconds; a server that needs longer than this does not answer. */
export const checkLimitMs = 10_000

/** @param look is asked to end when the signal aborts, at the limit; it is not waited for any longer */
export async function examine(
  check: string,
  look: (signal: AbortSignal) => Promise<Verdict>,
  limitMs = checkLimitMs,
): Promise<Finding> {
  const over = new AbortController()
  const done = new AbortController()
  const looked = Promise.resolve(over.signal).then(look).catch(verdictOf)
  const late = pause(limitMs, done.signal).then(() =>
    failed(
      `no answer within ${limitMs / 1_000} s`,
      'find out why the server or the way to it hangs, then run doctor again',
    ),
  )
  const verdict = await Promise.race([looked, late])
  over.abort()
  done.abort()
  return { check, ...verdict }
}

/** What other checks tell better is left to them. */
function verdictOf(error: unknown): Verdict {
  const { code } = classifyFailure(error)
  if (code === '42P01' || code === '3F000') return skipped('its tables are not there: see schema')
  if (code === '42501') return skipped('this role may not look: see grants')
  if (error instanceof AppError) {
    // These messages say what is wrong, and then what to do.
    const [, found = error.message, mend = ''] =
      /^(.+?(?:\)(?=: )|(?=\. )))(?:: |\. )(.+)$/s.exec(error.message) ?? []
    return failed(found, mend)
  }
  const text = error instanceof Error ? error.message : String(error)
  return failed(`could not be looked at (${code}): ${text}`, 'mend that, then run doctor again')
}
