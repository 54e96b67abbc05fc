/** Sessions: signed, of their token alone, and over in time. */

import { expect, it } from 'vitest'
import { createSessions, sessionSeconds } from '../../../src/http/session.js'

const tokens = { readToken: 'reader-4f1d2c9b7a', adminToken: 'admin-8e3b6a5d0c' }
let nowMs = 1_800_000_000_000
const sessions = createSessions(tokens, () => nowMs)

it('opens what it has sealed, with its role and name', () => {
  expect(sessions.open(sessions.seal('admin', 'anna'))).toMatchObject({
    role: 'admin',
    name: 'anna',
  })
  expect(sessions.open(sessions.seal('reader', undefined))).toMatchObject({ role: 'reader' })
})

it('is over after twelve hours, to the second', () => {
  const text = sessions.seal('admin', 'anna')
  const begun = nowMs
  nowMs = begun + sessionSeconds * 1_000 - 1
  expect(sessions.open(text)).toBeDefined()
  nowMs = begun + sessionSeconds * 1_000
  expect(sessions.open(text)).toBeUndefined()
})

it('ends with its own token, not with the other', () => {
  const [admin, reader] = [sessions.seal('admin', undefined), sessions.seal('reader', undefined)]
  const changed = createSessions({ ...tokens, readToken: 'another-reader' }, () => nowMs)
  expect(changed.open(reader)).toBeUndefined()
  expect(changed.open(admin)).toBeDefined()
  const without = createSessions({ readToken: undefined, adminToken: undefined }, () => nowMs)
  expect(without.open(admin)).toBeUndefined()
})

it("a reader's is never an admin's, also where both tokens are the same", () => {
  const same = createSessions({ readToken: 'one-token-for-both', adminToken: 'one-token-for-both' })
  expect(same.open(same.seal('reader', undefined))?.role).toBe('reader')
})

it.each(['', '.', 'a.b', 'a.b.c', '%00', 'x'.repeat(5_000)])('takes no nonsense: %j', (text) => {
  expect(sessions.open(text)).toBeUndefined()
})
