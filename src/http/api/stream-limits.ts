/**
 * How many streams of events there are for whom. A reader may log in again and again, each time as
 * another, so readers are counted together too: those who may act always have some left.
 */

import type { Role } from '../session.js'

/** Each is an open connection; a team has fewer pages open, and one of them no more than a few in view. */
export const streamsAtMost = 50
const ofOneAtMost = 10
const ofReadersAtMost = 40
/** Behind a proxy that is one address for all. */
const ofReadersAtOneAddressAtMost = 20

export interface StreamOwner {
  /** The token at an address, or the session. */
  readonly key: string
  readonly role: Role
  readonly address: string
  /** The session's, where it is a session's. */
  readonly cookie: string | undefined
}

/** Why this owner gets no stream more, or undefined. */
export function refuseOneMore(
  { key, role, address }: StreamOwner,
  open: readonly StreamOwner[],
): string | undefined {
  if (open.filter((other) => other.key === key).length >= ofOneAtMost)
    return `You have ${ofOneAtMost} streams open, so that others have some. Close a page.`
  if (role === 'admin') return undefined
  const readers = open.filter((other) => other.role === 'reader')
  if (readers.length >= ofReadersAtMost)
    return `Readers have ${ofReadersAtMost} streams open, which is all there are for them. Close a page.`
  if (readers.filter((other) => other.address === address).length >= ofReadersAtOneAddressAtMost)
    return `Readers at your address have ${ofReadersAtOneAddressAtMost} streams open, so that others have some. Close a page.`
  return undefined
}
