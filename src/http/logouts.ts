/**
 * Sessions that were logged out before they ended. A session is a signed cookie and nothing on the server,
 * so that any instance takes it; that it is over is kept in the database, for all of them and over a
 * restart, for longer than a session lasts.
 */

import type { Kysely } from 'kysely'
import { carryOutOnce, outcomeOf, requestOf } from '../operations/once.js'
import type { Database } from '../postgres/schema.js'
import { within } from '../timers.js'

export interface Logouts {
  /** @param session the cookie's text @throws what the database throws */
  add(session: string): Promise<void>
  /** False where the database doesn't say: during an outage The Deck is looked at more than ever. */
  has(session: string): Promise<boolean>
}

/** A look by the primary key takes a millisecond; a page must not wait for a database that is away. */
const limitMs = 500

export function createLogouts(db: Kysely<Database>): Logouts {
  const scope = (session: string): readonly string[] => ['deck logout', session]
  return {
    async add(session) {
      await carryOutOnce(db, requestOf(scope(session), null), () => Promise.resolve(true))
    },
    async has(session) {
      let isOut = false
      const look = outcomeOf(db, scope(session)).then(
        (outcome) => (isOut = outcome !== undefined),
        () => undefined,
      )
      await within(look, limitMs)
      return isOut
    },
  }
}
