/** What a page of The Deck may do in a browser. */

import type { FastifyReply } from 'fastify'

const contentSecurityPolicy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
].join('; ')

export function setPolicy(reply: FastifyReply): void {
  void reply.header('content-security-policy', contentSecurityPolicy)
  // Without any referrer, browsers would not say where a form comes from.
  void reply.header('referrer-policy', 'same-origin')
}
