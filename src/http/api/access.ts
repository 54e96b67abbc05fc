/**
 * Who may use the API and The Deck. Tokens that are set are enforced everywhere, by header or by the
 * session that a browser has for one. Without any, only who is on this machine may: the server must be
 * bound to loopback, and what a browser was lured to send must not get in (DNS rebinding), so the Host
 * header must name loopback too.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP, type AddressInfo } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../config/config.js'
import { problem } from '../problem-of-error.js'
import type { Problem } from '../problem.js'
import type { Logouts } from '../logouts.js'
import type { Role, Session, Sessions } from '../session.js'

export interface Caller {
  readonly role: Role
  /** Who acts, as the audit keeps it, where the request doesn't say. */
  readonly actor: string
  /** Where a browser's cookie told who it is: then another page may have made it send the request. */
  readonly session?: Session
}

/** What a request says of who sent it. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders
  /** The session's cookie. */
  readonly cookie: string | undefined
}

/** As `nobody`, where the session of this request was logged out. */
export async function refuseLoggedOut(
  access: Access,
  { cookie }: Credentials,
  logouts: Logouts,
): Promise<Access> {
  if (!('caller' in access) || access.caller.session === undefined || cookie === undefined)
    return access
  return (await logouts.has(cookie)) ? nobody : access
}

export type Access =
  { readonly caller: Caller } | { readonly refusal: Problem; readonly challenge?: string }

export interface AccessOptions {
  readonly what: 'The API' | 'The Deck'
  readonly tokens: Config['deck']
  readonly sessions: Sessions
  /** The addresses that the server listens at. */
  readonly boundTo: () => readonly string[]
}

export function createAccess({
  what,
  tokens,
  sessions,
  boundTo,
}: AccessOptions): (credentials: Credentials) => Access {
  const place = what === 'The API' ? 'api' : 'deck'
  if (!hasTokens(tokens)) {
    return ({ headers }) => {
      const refusal = refuseRemote(headers, boundTo(), what)
      return refusal === undefined
        ? { caller: { role: 'admin', actor: `${place}:local` } }
        : { refusal }
    }
  }
  const roleOf = createTokenCheck(tokens)
  return ({ headers, cookie }) => {
    const token = bearerToken(headers)
    if (token !== undefined) {
      const role = roleOf(token)
      return role === undefined ? unknownToken : { caller: { role, actor: `${place}:${role}` } }
    }
    const session = sessions.open(cookie)
    if (session === undefined) return nobody
    const { role, name } = session
    return { caller: { role, actor: name ?? `deck:${role}`, session } }
  }
}

const nobody: Access = {
  refusal: problem(401, 'Send the header `Authorization: Bearer` with a token.'),
  challenge: 'Bearer realm="chat-provision-retry"',
}
const unknownToken: Access = {
  refusal: problem(401, 'This token is not one of DECK_READ_TOKEN and DECK_ADMIN_TOKEN.'),
  challenge: 'Bearer realm="chat-provision-retry", error="invalid_token"',
}

export function bearerToken({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
}

export function hasTokens(tokens: Config['deck']): boolean {
  return tokens.readToken !== undefined || tokens.adminToken !== undefined
}

/** Which role a token gives, or undefined; how long it takes tells nothing of either. */
export function createTokenCheck(tokens: Config['deck']): (token: string) => Role | undefined {
  const isReader = equals(tokens.readToken)
  const isAdmin = equals(tokens.adminToken)
  return (token) => {
    const [admin, reader] = [isAdmin(token), isReader(token)]
    return admin ? 'admin' : reader ? 'reader' : undefined
  }
}

/** A server listens at an address here; only a socket's file has none, and then all is off. */
export function addressesOf(app: {
  readonly addresses: () => readonly (AddressInfo | string)[]
}): readonly string[] {
  return app.addresses().map((bound) => (typeof bound === 'string' ? bound : bound.address))
}

/** Why this caller may change nothing, or undefined. */
export function refuseWrite({ role }: Caller, tokens: Config['deck']): Problem | undefined {
  if (role === 'admin') return undefined
  return tokens.adminToken === undefined
    ? problem(403, 'Changes are switched off: DECK_ADMIN_TOKEN is not set.')
    : problem(403, 'This token may only read. Changes take the one of DECK_ADMIN_TOKEN.')
}

/** Digests are of equal length, whatever was sent. */
function equals(secret: string | undefined): (text: string) => boolean {
  const expected = secret === undefined ? undefined : digest(secret)
  return (text) => {
    const given = digest(text)
    return timingSafeEqual(given, expected ?? given) && expected !== undefined
  }
}

export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Without tokens: why not, for whoever may sit elsewhere. */
function refuseRemote(
  headers: IncomingHttpHeaders,
  boundTo: readonly string[],
  what: AccessOptions['what'],
): Problem | undefined {
  if (boundTo.length === 0 || !boundTo.every(isLoopback)) {
    const detail =
      `${what} is off: others could reach it. Set DECK_READ_TOKEN and DECK_ADMIN_TOKEN, ` +
      'or bind to loopback (HTTP_HOST=127.0.0.1).'
    return problem(404, detail)
  }
  if (!namesLoopback(headers.host)) {
    const detail =
      `Without tokens only this machine may use ${what}, by the name localhost or 127.0.0.1. ` +
      'Set DECK_READ_TOKEN and DECK_ADMIN_TOKEN to use it by another.'
    return problem(403, detail)
  }
  if (forwardingHeaders.some((name) => headers[name] !== undefined)) {
    const detail =
      'The request came through a proxy, and so perhaps from elsewhere. ' +
      'Set DECK_READ_TOKEN and DECK_ADMIN_TOKEN.'
    return problem(403, detail)
  }
  return undefined
}

/** A proxy on this machine talks from loopback for the whole world. */
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function namesLoopback(host = ''): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host) ?? []
  const name = (bracketed ?? plain ?? '').toLowerCase()
  return name === 'localhost' || isLoopback(name)
}
