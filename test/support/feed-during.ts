/** Deals that keep coming while something is done to the service, and which of them were acknowledged. */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Database } from '../../src/postgres/schema.js'
import { seedDeal } from './deals.js'

/** A deal every so often, as a busy messenger has them. */
const pauseMs = 100

/**
 * Feeds failed deals while `work` goes on.
 *
 * @returns the deals whose commit was acknowledged: none of these may be lost
 */
export async function feedDuring(
  admin: Kysely<Database>,
  work: () => Promise<void>,
): Promise<string[]> {
  const acknowledged: string[] = []
  const done = new AbortController()
  const feeding = (async () => {
    while (!done.signal.aborted) {
      const dealId = randomUUID()
      try {
        await admin.transaction().execute((trx) => seedDeal(trx, { dealId }))
        acknowledged.push(dealId)
      } catch {
        // The database is away: nothing was promised of this deal.
      }
      await delay(pauseMs)
    }
  })()
  try {
    await work()
  } finally {
    done.abort()
    await feeding
  }
  return acknowledged
}
