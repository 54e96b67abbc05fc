/** A session is over once it has run out, or was logged out. */

import { expect, it } from 'vitest'
import { createOverCheck } from '../../../src/http/session-over.js'
import { createSessions, sessionSeconds } from '../../../src/http/session.js'

it('is over after its twelve hours, or once it was logged out', async () => {
  let now = 1_000_000
  const sessions = createSessions({ readToken: undefined, adminToken: 'a token' }, () => now)
  const [anna, boris] = [sessions.seal('admin', 'anna'), sessions.seal('admin', 'boris')]
  const isOver = createOverCheck({
    sessions,
    logouts: { has: (text) => Promise.resolve(text === boris) },
  })
  expect(await Promise.all([anna, boris].map(isOver))).toEqual([false, true])
  now += sessionSeconds * 1_000
  expect(await isOver(anna)).toBe(true)
})
