/** What The Deck's cookies have in common: for this site alone, and never for a script. */

import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'

/** `/`, for the stream of events is of the API. */
export function cookieOptions({ protocol, headers }: FastifyRequest): CookieSerializeOptions {
  // TLS ends in front of this server, if anywhere. Whoever forges the header spoils their own cookie only.
  const isSecure = protocol === 'https' || headers['x-forwarded-proto'] === 'https'
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure }
}
