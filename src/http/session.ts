/**
 * The session of a browser: a signed cookie and nothing on the server, so that a restart or a second
 * instance keeps it. The key is derived from the token that it was had for: change that token, and its
 * sessions are over.
 */

import { hkdfSync } from 'node:crypto'
import fastifyCookie from '@fastify/cookie'
import { z } from 'zod'
import type { Config } from '../config/config.js'

export type Role = 'reader' | 'admin'

export const sessionCookie = 'deck_session'

/** A shift; who is on call for longer logs in once more. */
export const sessionSeconds = 12 * 60 * 60

const session = z.strictObject({
  role: z.enum(['reader', 'admin']),
  /** Who it is, as they said at the login; the audit keeps it. */
  name: z.string().max(100).optional(),
  /** Seconds since 1970. */
  issuedAt: z.int(),
  expiresAt: z.int(),
})

export type Session = z.output<typeof session>

export interface Sessions {
  /** The cookie's text for who has just shown the token of that role. */
  seal(role: Role, name: string | undefined): string
  /** Undefined for what this service has not signed, or no longer holds. */
  open(text: string | undefined): Session | undefined
}

/** @param nowMs the host's clock, milliseconds since 1970 */
export function createSessions(tokens: Config['deck'], nowMs: () => number = Date.now): Sessions {
  const signers = { reader: signerOf(tokens.readToken), admin: signerOf(tokens.adminToken) }
  const now = (): number => Math.floor(nowMs() / 1_000)
  return {
    seal(role, name) {
      const signer = signers[role]
      if (signer === undefined) throw new Error(`there is no token for the role ${role}`)
      const issuedAt = now()
      const content: Session = { role, name, issuedAt, expiresAt: issuedAt + sessionSeconds }
      return signer.sign(Buffer.from(JSON.stringify(content)).toString('base64url'))
    },
    open(text) {
      if (text === undefined) return undefined
      for (const role of ['admin', 'reader'] as const) {
        const content = contentOf(signers[role], text)
        if (content?.role === role && now() < content.expiresAt) return content
      }
      return undefined
    },
  }
}

function signerOf(token: string | undefined) {
  if (token === undefined) return undefined
  const key = hkdfSync('sha256', token, 'chat-provision-retry', 'deck session', 32)
  return new fastifyCookie.Signer(Buffer.from(key))
}

function contentOf(signer: ReturnType<typeof signerOf>, text: string): Session | undefined {
  const { valid = false, value = null } = signer?.unsign(text) ?? {}
  if (!valid || value === null) return undefined
  // Signed by this service: it is JSON, of this version's form or of another's.
  const content: unknown = JSON.parse(Buffer.from(value, 'base64url').toString())
  return session.safeParse(content).data
}
