/** Tokens that could be guessed are told of, by name and never by what they are. */

import { expect, it } from 'vitest'
import { tokensMissing, weakTokens } from '../../../src/config/weak-tokens.js'

const strong = '8f14e45fceea167a5a36dedd4bea2543'

it.each([
  [undefined, undefined],
  [strong, undefined],
  [strong, 'correct-horse-battery'],
])('nothing to say: %s, %s', (readToken, adminToken) => {
  expect(weakTokens({ readToken, adminToken })).toEqual([])
})

it('tells which, and how it is weak', () => {
  expect(weakTokens({ readToken: 'hunter2', adminToken: 'abababababababababab' })).toEqual([
    'DECK_READ_TOKEN has 7 characters and could be guessed: take 16 or more',
    'DECK_ADMIN_TOKEN is made of 2 different characters and could be guessed',
  ])
})

it.each([
  ['0.0.0.0', undefined, 1],
  ['::', undefined, 1],
  ['10.0.0.7', 'a token of somebody', 0],
  ['127.0.0.1', undefined, 0],
  ['localhost', undefined, 0],
  ['::1', undefined, 0],
])('at %s with the token %s: told that both are off %i times', (host, readToken, times) => {
  const deck = { readToken, adminToken: undefined }
  expect(tokensMissing({ deck, http: { host } })).toHaveLength(times)
})
