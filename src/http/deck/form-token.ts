/**
 * Keeps other pages from changing anything in a visitor's name (CSRF): each form holds a token that
 * follows from the visitor's cookie, which no other page can read, and the browser must not say that
 * the request comes from elsewhere. Nothing is kept on the server, so a restart spoils no form.
 *
 * The token begins with the form's own id, by which a form that is sent twice is known.
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

/** Nobody guesses it, and no two forms have the same. */
export function newFormId(): string {
  return randomBytes(16).toString('base64url')
}

export function isFormId(text: string | undefined): text is string {
  return text !== undefined && /^[\w-]{22}$/.test(text)
}

export interface FormTokens {
  readonly issue: (formId: string) => string
  /** The id of the form; undefined for a token that this visitor was not given. */
  readonly read: (token: string | undefined) => string | undefined
}

/** @param secret the text of the cookie */
export function createFormTokens(secret: string): FormTokens {
  const issue = (formId: string): string => {
    const mark = createHmac('sha256', secret).update(`chat-provision-retry deck form ${formId}`)
    return `${formId}.${mark.digest('base64url')}`
  }
  return {
    issue,
    read(token = '') {
      const formId = formIdIn(token)
      if (formId === undefined) return undefined
      const [left, right] = [Buffer.from(token), Buffer.from(issue(formId))]
      return left.length === right.length && timingSafeEqual(left, right) ? formId : undefined
    },
  }
}

/** Of any visitor's token: by it a form that is sent from a new session is still the same form. */
export function formIdIn(token = ''): string | undefined {
  const [formId] = token.split('.', 1)
  return isFormId(formId) ? formId : undefined
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
