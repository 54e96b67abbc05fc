/**
 * Tokens that a person could guess. A warning and no fault: a service that worked must not refuse to start
 * over it, and on loopback it does little harm.
 */

import type { Config } from './config.js'

/** As 64 random bits have in hexadecimal; at 1200 guesses a minute the sun goes out before. */
const shortest = 16
/** Sixteen random hexadecimal digits have fewer once in ten million; `aaaa…` and `0123…` of one hand do. */
const differentAtLeast = 5

/** Where others could reach them, The Deck and the API are refused to all until a token is set. */
export function tokensMissing({
  deck,
  http,
}: Pick<Config, 'deck'> & { readonly http: Pick<Config['http'], 'host'> }): readonly string[] {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(http.host)
  if (isLocal || deck.readToken !== undefined || deck.adminToken !== undefined) return []
  return [
    `HTTP_HOST is ${http.host}: The Deck and the API are off until DECK_READ_TOKEN or DECK_ADMIN_TOKEN is set`,
  ]
}

/** One line for each, for the log of the start and for `doctor`; never the token itself. */
export function weakTokens({ readToken, adminToken }: Config['deck']): readonly string[] {
  const given = { DECK_READ_TOKEN: readToken, DECK_ADMIN_TOKEN: adminToken }
  return Object.entries(given).flatMap(([name, token]) => {
    if (token === undefined) return []
    if (token.length < shortest) {
      return [
        `${name} has ${token.length} characters and could be guessed: take ${shortest} or more`,
      ]
    }
    const different = new Set(token).size
    if (different >= differentAtLeast) return []
    return [`${name} is made of ${different} different characters and could be guessed`]
  })
}
