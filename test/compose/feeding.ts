/** Deals that keep coming while something is done to the stack, and which of them were acknowledged. */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { seedDeal } from '../support/deals.js'
import type { Stack } from './stack.js'

/** A deal every so often, as a busy messenger has them. */
const pauseMs = 100

/**
 * Feeds failed deals while `work` goes on.
 *
 * @returns the deals whose commit was acknowledged: none of these may be lost
 */
export async function feedDuring(stack: Stack, work: () => Promise<void>): Promise<string[]> {
  const acknowledged: string[] = []
  const done = new AbortController()
  const feeding = (async () => {
    while (!done.signal.aborted) {
      const dealId = randomUUID()
      try {
        await stack.admin.transaction().execute((trx) => seedDeal(trx, { dealId }))
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
