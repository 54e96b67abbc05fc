/**
 * Who may use the API. Tokens that are set are enforced everywhere. Without any, only who is on this
 * machine may: the server must be bound to loopback, and what a browser was lured to send must not
 * get in (DNS rebinding), so the Host header must name loopback too.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../config/config.js'
import { problem } from '../problem-of-error.js'
import type { Problem } from '../problem.js'

export interface Caller {
  readonly role: 'reader' | 'admin'
  /** Who acts, as the audit keeps it, where the request doesn't say. */
  readonly actor: string
}

export type Access =
  { readonly caller: Caller } | { readonly refusal: Problem; readonly challenge?: string }

export interface AccessOptions {
  readonly tokens: Config['deck']
  /** The addresses that the server listens at. */
  readonly boundTo: () => readonly string[]
}

export function createAccess({
  tokens,
  boundTo,
}: AccessOptions): (headers: IncomingHttpHeaders) => Access {
  if (tokens.readToken === undefined && tokens.adminToken === undefined) {
    return (headers) => withoutTokens(headers, boundTo())
  }
  const isReader = equals(tokens.readToken)
  const isAdmin = equals(tokens.adminToken)
  return (headers) => {
    const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
    if (token === undefined) {
      return {
        refusal: problem(401, 'Send the header `Authorization: Bearer` with a token.'),
        challenge: 'Bearer realm="chat-provision-retry"',
      }
    }
    // Both, always: how long it takes tells nothing of either.
    const [admin, reader] = [isAdmin(token), isReader(token)]
    if (admin) return { caller: { role: 'admin', actor: 'api:admin' } }
    if (reader) return { caller: { role: 'reader', actor: 'api:reader' } }
    return {
      refusal: problem(401, 'This token is not one of DECK_READ_TOKEN and DECK_ADMIN_TOKEN.'),
      challenge: 'Bearer realm="chat-provision-retry", error="invalid_token"',
    }
  }
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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function withoutTokens(headers: IncomingHttpHeaders, boundTo: readonly string[]): Access {
  if (boundTo.length === 0 || !boundTo.every(isLoopback)) {
    const detail =
      'The API is off: others could reach it. Set DECK_READ_TOKEN and DECK_ADMIN_TOKEN, ' +
      'or bind to loopback (HTTP_HOST=127.0.0.1).'
    return { refusal: problem(404, detail) }
  }
  if (!namesLoopback(headers.host)) {
    const detail =
      'Without tokens only this machine may use the API, by the name localhost or 127.0.0.1. ' +
      'Set DECK_READ_TOKEN and DECK_ADMIN_TOKEN to use it by another.'
    return { refusal: problem(403, detail) }
  }
  if (forwardingHeaders.some((name) => headers[name] !== undefined)) {
    const detail =
      'The request came through a proxy, and so perhaps from elsewhere. ' +
      'Set DECK_READ_TOKEN and DECK_ADMIN_TOKEN.'
    return { refusal: problem(403, detail) }
  }
  return { caller: { role: 'admin', actor: 'api:local' } }
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
