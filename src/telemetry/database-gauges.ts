/**
 * Keeps the gauges that come from the database: one look, shared by all scrapes for 5 seconds.
 * When the database doesn't answer the last values stay, and a gauge tells how old they are.
 */

import type { Kysely } from 'kysely'
import type { OutboxOptions, RetryOptions } from '../config/config.js'
import { classifyFailure } from '../postgres/failure-class.js'
import type { Database } from '../postgres/schema.js'
import { createCachedLook } from './cached-look.js'
import { limitLook, readDatabaseValues } from './database-values.js'
import type { Logger } from './logger.js'
import type { Metrics } from './metrics.js'

export interface DatabaseLookOptions {
  readonly db: Kysely<Database>
  readonly retry: RetryOptions
  readonly outbox: OutboxOptions
  readonly metrics: Metrics
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export interface DatabaseLook {
  /** Brings the gauges up to date if it can within the limit; never rejects. */
  refresh(): Promise<void>
}

/** Scrapers come every 15 to 60 seconds; several of them, and The Deck, share one look. */
const freshForMs = 5_000
/** The statements take milliseconds; the server itself ends one that is in somebody's way. */
const statementTimeoutMs = 2_000
/** Above the server's verdict, far below the 10 seconds after which Prometheus gives up. */
const limitMs = 3_000

/** Hooks itself into the metrics' rendering. */
export function createDatabaseLook(options: DatabaseLookOptions): DatabaseLook {
  const { db, retry, outbox, metrics, log, now } = options
  // Before the first look the age counts from here: a database that never answered must show.
  let seenAt = now()
  let failing = false

  const look = createCachedLook({
    freshForMs,
    limitMs,
    now,
    look: async () => {
      const values = await db
        .transaction()
        .setAccessMode('read only')
        .execute(async (trx) => {
          await limitLook(trx, statementTimeoutMs)
          return readDatabaseValues(trx, retry, outbox.relay)
        })
      seenAt = now()
      metrics.setDatabaseValues(values)
    },
  })

  async function refresh(): Promise<void> {
    const seen = await look()
    metrics.setDatabaseLookAge((now() - seenAt) / 1_000)
    if (seen.state === 'seen') {
      failing = false
    } else if (!failing) {
      // Once per outage, not once per scrape.
      failing = true
      const reason = seen.state === 'late' ? 'no answer in time' : classifyFailure(seen.error).code
      const err = seen.state === 'failed' ? seen.error : undefined
      log.warn({ event: 'gauges outdated', reason, err }, 'gauges outdated')
    }
  }

  metrics.beforeRender(refresh)
  return { refresh }
}
