/** The intake's handler as production puts it together, on a test's database, with its log kept. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach } from 'vitest'
import type { IntakeMessage } from '../../src/intake/intake-message.js'
import { createMessageHandler, type MessageHandler } from '../../src/intake/message-handler.js'
import { createDatabase } from '../../src/postgres/connect.js'
import { probeDatabase } from '../../src/postgres/probe.js'
import { createProvisionContext } from '../../src/provisioning/provision-context.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { createTally } from '../../src/provisioning/tally.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { threeMembers } from '../support/deals.js'
import { testRetryOptions, testTopic } from '../support/job.js'
import type { TestDatabase } from '../support/test-database.js'

/** In pg_stat_activity. */
export const handlerName = 'intake under test'

export interface DealCreatedSeed {
  readonly dealId?: string
  readonly title?: string
  readonly members?: readonly { readonly userId: string; readonly role: string }[]
  readonly projectId?: string
  readonly tenantId?: string
  readonly correlationId?: string
}

/** The value of the message, as crm writes it. */
export function dealCreatedValue(seed: DealCreatedSeed): string {
  return JSON.stringify({
    DealId: seed.dealId,
    Title: seed.title ?? 'Объект №7, ЖК «Север»',
    ProjectId: seed.projectId,
    DeveloperCompanyId: seed.tenantId,
    Members: (seed.members ?? threeMembers()).map(({ userId, role }) => ({
      UserId: userId,
      Role: role,
    })),
  })
}

export interface TestMessage extends IntakeMessage {
  readonly dealId: string
}

let nextOffset = 0

/** A message at a place of its own on the topic; by default a new deal with three members. */
export function dealCreated(seed: DealCreatedSeed = {}): TestMessage {
  const dealId = seed.dealId ?? randomUUID()
  return { ...rawMessage(dealCreatedValue({ ...seed, dealId }), seed.correlationId), dealId }
}

export function rawMessage(value: string | Buffer | null, correlationId?: string): IntakeMessage {
  nextOffset += 1
  return {
    topic: 'pin.crm.deal-created.v1',
    partition: 0,
    offset: String(nextOffset),
    key: null,
    value: value === null ? null : Buffer.from(value),
    correlationId,
  }
}

export interface TestHandler extends MessageHandler {
  /** Handles a message that nobody stops. */
  take(message: IntakeMessage): Promise<boolean>
  /** The log so far, one parsed line each. */
  readonly lines: Record<string, unknown>[]
  readonly counted: {
    retried: number
    succeeded: number
    tries: number
    events: number
    parked: number
  }
}

/**
 * Registers the hook that closes a test's handlers and empties the tables after it; call it at the
 * file's top level. The returned function makes a handler on the file's database.
 */
export function useTestHandlers(
  database: () => TestDatabase,
): (options?: { readonly url?: string }) => TestHandler {
  const pools: { destroy(): Promise<void> }[] = []
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.destroy()))
    await sql`
      truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
        messenger.outbox_events, messenger.chats, messenger.participants, messenger.chat_events,
        messenger.intake_parked
    `.execute(database().admin)
  })
  return ({ url = database().url } = {}) => {
    const lines: Record<string, unknown>[] = []
    const counted = { retried: 0, succeeded: 0, tries: 0, events: 0, parked: 0 }
    const log = createLogger({
      level: 'debug',
      destination: {
        write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
      },
    })
    const metrics = {
      retried: () => (counted.retried += 1),
      succeeded: () => (counted.succeeded += 1),
      poison: () => undefined,
      cycleCompleted: () => undefined,
    }
    const db = createDatabase({
      connectionString: url,
      applicationName: handlerName,
      max: 3,
      onConnectionLost: () => undefined,
    })
    pools.push(db)
    const handler = createMessageHandler({
      db,
      topic: testTopic,
      provisioning: createProvisionContext(referenceChats, testRetryOptions.participantRoles),
      probe: () => probeDatabase(url, `${handlerName} probe`),
      random: Math.random,
      log,
      tally: createTally(log, metrics, () => (counted.events += 1)),
      now: () => performance.now(),
      onTry: () => (counted.tries += 1),
      onParked: () => (counted.parked += 1),
    })
    return {
      handle: (message, stopping) => handler.handle(message, stopping),
      get failure() {
        return handler.failure
      },
      take: (message) => handler.handle(message, new AbortController().signal),
      lines,
      counted,
    }
  }
}
