/** Whether a session that was let in is over by now: for what goes on after its request was taken. */

import type { Logouts } from './logouts.js'
import type { Sessions } from './session.js'

/** @returns of a cookie's text: true once it has run out, or was logged out as far as the database says */
export function createOverCheck({
  sessions,
  logouts,
}: {
  readonly sessions: Pick<Sessions, 'open'>
  readonly logouts: Pick<Logouts, 'has'>
}): (cookie: string) => Promise<boolean> {
  return async (cookie) => sessions.open(cookie) === undefined || logouts.has(cookie)
}
