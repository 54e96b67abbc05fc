/** What came of an action, told once on the next page: kept in a cookie, for links can be forged. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'

const cookieName = 'deck_notice'
/** From the redirect to the page that it leads to. */
const maxAgeSeconds = 60
/** Browsers drop cookies of over 4 KB, and a notice is for reading. */
const longestText = 600

const notice = z.strictObject({
  tone: z.enum(['good', 'warn', 'bad']),
  text: z.string(),
  /** A path below /deck where more is to be seen. */
  link: z.strictObject({ href: z.string().startsWith('/deck'), text: z.string() }).optional(),
})

export type Notice = z.output<typeof notice>

export function leaveNotice(reply: FastifyReply, { text, ...rest }: Notice): void {
  const short = text.length > longestText ? `${text.slice(0, longestText)}…` : text
  const value = Buffer.from(JSON.stringify({ text: short, ...rest })).toString('base64url')
  void reply.setCookie(cookieName, value, {
    ...{ path: '/deck', httpOnly: true, sameSite: 'strict', maxAge: maxAgeSeconds },
  })
}

export function takeNotice(request: FastifyRequest, reply: FastifyReply): Notice | undefined {
  const text = request.cookies[cookieName]
  if (text === undefined) return undefined
  void reply.clearCookie(cookieName, { path: '/deck' })
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return notice.safeParse(value).data
  } catch {
    // Not one that this service has left: there is nothing to tell.
    return undefined
  }
}
