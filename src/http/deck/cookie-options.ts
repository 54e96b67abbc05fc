/** What The Deck's cookies have in common: for this site alone, and never for a script. */

import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'

/**
 * `/`, for the stream of events is of the API. Lax, so that a link that somebody shares leads to its page
 * and not to the login: a page of another site can so have a page of The Deck read, and no page changes
 * anything by being read. What changes something takes a form's token.
 */
export function cookieOptions({ protocol, headers }: FastifyRequest): CookieSerializeOptions {
  // TLS ends in front of this server, if anywhere. Whoever forges the header spoils their own cookie only.
  const isSecure = protocol === 'https' || headers['x-forwarded-proto'] === 'https'
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure }
}
