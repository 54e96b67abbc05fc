/** What came of an action, told once on the next page: kept in a cookie, for links can be forged. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { cookieOptions } from './cookie-options.js'

const cookieName = 'deck_notice'
/** From the redirect to the page that it leads to. */
const maxAgeSeconds = 60
/**
 * Characters. Browsers drop cookies of over 4 KB, base64 makes four bytes of three, and a character of the
 * text has up to three: together they stay below. A notice is for reading anyway.
 */
const longestText = 600
const longestHref = 600

const notice = z.strictObject({
  tone: z.enum(['good', 'warn', 'bad']),
  text: z.string(),
  /** A path below /deck where more is to be seen. */
  link: z.strictObject({ href: z.string().startsWith('/deck'), text: z.string() }).optional(),
})

export type Notice = z.output<typeof notice>

/** Undefined for what is none, or another version's. */
export function readNotice(value: unknown): Notice | undefined {
  return notice.safeParse(value).data
}

export function leaveNotice(reply: FastifyReply, { text, link, ...rest }: Notice): void {
  const short = text.length > longestText ? `${text.slice(0, longestText)}…` : text
  const kept = { ...rest, text: short, ...(link && { link: shortened(link) }) }
  void reply.setCookie(cookieName, Buffer.from(JSON.stringify(kept)).toString('base64url'), {
    ...cookieOptions(reply.request),
    maxAge: maxAgeSeconds,
  })
}

/** Without the way back where that is what makes it long: the page that it leads to has one of its own. */
function shortened(link: NonNullable<Notice['link']>): NonNullable<Notice['link']> {
  return link.href.length > longestHref
    ? { ...link, href: link.href.split('?', 1)[0] ?? link.href }
    : link
}

export function takeNotice(request: FastifyRequest, reply: FastifyReply): Notice | undefined {
  const text = request.cookies[cookieName]
  if (text === undefined) return undefined
  void reply.clearCookie(cookieName, cookieOptions(request))
  try {
    return readNotice(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    // Not one that this service has left: there is nothing to tell.
    return undefined
  }
}
