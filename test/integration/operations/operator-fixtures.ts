/** An operator at work with the worker's least rights, and what the audit says of it. */

import { afterAll, afterEach } from 'vitest'
import type { Kysely } from 'kysely'
import type {
  ProvisionCommand,
  OperatorContext,
  Targets,
} from '../../../src/operations/provision-command.js'
import type { Order } from '../../../src/operations/read-input.js'
import { createDatabase } from '../../../src/postgres/connect.js'
import type { Database } from '../../../src/postgres/schema.js'
import { seedDeal, type SeededDeal } from '../../support/deals.js'
import { testTopic } from '../../support/job.js'
import type { TestDatabase } from '../../support/test-database.js'

export const maxAttempts = 10
export const anna: Order = { by: 'anna', reason: 'the cause was mended' }
export const boris: Order = { by: 'boris', reason: 'the cause was mended' }

/**
 * Registers the hooks that empty the audit after each test and close the operators' pools in the end; call
 * it at the file's top level. Each operator has sessions of their own, so that several can be in each
 * other's way.
 */
export function useOperators(database: () => TestDatabase): (name?: string) => OperatorContext {
  const pools: Kysely<Database>[] = []
  afterEach(() => database().query('truncate messenger.chat_provision_audit'))
  afterAll(() => Promise.all(pools.map((db) => db.destroy())))
  return (name = 'operator') => {
    const db = createDatabase({
      connectionString: database().url,
      applicationName: name,
      max: 2,
      onConnectionLost: () => undefined,
    })
    pools.push(db)
    return { db, topic: testTopic, maxAttempts }
  }
}

export interface AuditText {
  readonly actor: string
  readonly action: string
  readonly deal_id: string | null
  readonly filter: string | null
  readonly reason: string
  readonly affected: number
}

export function auditLines(database: TestDatabase): Promise<AuditText[]> {
  return database.query<AuditText & Record<string, unknown>>(
    `select actor, action, deal_id, filter, reason, affected
     from messenger.chat_provision_audit order by id`,
  )
}

export const poison: Targets = { filter: { poison: true } }

/** Poison rows in the order in which a command goes through them. */
export async function seedPoisonDeals(
  database: TestDatabase,
  count: number,
): Promise<SeededDeal[]> {
  const deals: SeededDeal[] = []
  for (let n = 0; n < count; n += 1) {
    deals.push(await seedDeal(database.admin, { attempts: maxAttempts }))
  }
  return deals.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** A signal that ends a command once so many deals were gone through. */
export function stopAfter(deals: number): Pick<ProvisionCommand, 'signal' | 'onProgress'> {
  const stop = new AbortController()
  return {
    signal: stop.signal,
    onProgress: (done) => {
      if (done >= deals) stop.abort()
    },
  }
}
