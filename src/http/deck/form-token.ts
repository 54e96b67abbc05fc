/**
 * Keeps other pages from changing anything in a visitor's name (CSRF): each form holds a token that
 * follows from the visitor's cookie, which no other page can read, and the browser must not say that
 * the request comes from elsewhere. Nothing is kept on the server, so a restart spoils no form.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The field's name in each form. */
export const formTokenField = 'formToken'

/** For whoever needs no login, and so has no session. */
export const visitorCookie = 'deck_visitor'

export function newVisitorSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** @param secret the text of the cookie */
export function formTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('chat-provision-retry deck form').digest('base64url')
}

export function isFormToken(given: string | undefined, expected: string): boolean {
  const [left, right] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Whether the browser says that a page of another site, or of another server on this machine, sent it.
 * Browsers send Sec-Fetch-Site only over TLS and to this machine, Origin with each form.
 */
export function isFromElsewhere({ host, origin, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()
}
