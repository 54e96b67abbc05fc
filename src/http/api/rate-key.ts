/**
 * For whom requests are counted. Behind a proxy all come from one address, so whoever shows a token or a
 * session that is known is counted apart; guesses are counted by the address, whatever they guess.
 */

import type { FastifyRequest } from 'fastify'
import { sessionCookie, type Sessions } from '../session.js'
import type { Config } from '../../config/config.js'
import { bearerToken, createTokenCheck, digest } from './access.js'

export function createRateKey(
  tokens: Config['deck'],
  sessions: Sessions,
): (request: FastifyRequest) => string {
  const roleOf = createTokenCheck(tokens)
  const keyOf = (secret: string): string => digest(secret).toString('base64url')
  return ({ headers, cookies, ip }) => {
    const token = bearerToken(headers)
    // Tools share a token, and so its count only where they share an address too.
    if (token !== undefined) return roleOf(token) === undefined ? ip : `${keyOf(token)} ${ip}`
    const cookie = cookies[sessionCookie]
    return cookie === undefined || sessions.open(cookie) === undefined ? ip : keyOf(cookie)
  }
}
