/** The intake as one thing: its pool, its handler and its loop, put together from the options. */

import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import { createDatabase } from '../postgres/connect.js'
import { probeDatabase } from '../postgres/probe.js'
import type { Database } from '../postgres/schema.js'
import type { MessengerChats } from '../provisioning/messenger-chats.js'
import { createProvisionContext } from '../provisioning/provision-context.js'
import { createTally } from '../provisioning/tally.js'
import type { IntakeMetrics, ProvisioningMetrics } from '../telemetry/metric-ports.js'
import { DealIntake } from './deal-intake.js'
import { runKafkaSession } from './kafka-session.js'
import { createMessageHandler } from './message-handler.js'

export interface IntakeOptions {
  readonly config: Pick<Config, 'database' | 'retry' | 'outbox' | 'kafka' | 'intake'>
  readonly chats: MessengerChats
  readonly log: Logger
  readonly metrics: { readonly provisioning: ProvisioningMetrics; readonly intake: IntakeMetrics }
  /** Called after each commit that wrote an event, so that the relay needn't wait for its poll. */
  readonly onEventWritten: () => void
}

export interface Intake {
  start(): void
  /** Ends after the messages under way; bears being called twice, or early. */
  stop(): Promise<void>
  /** Milliseconds since it last tried, whatever came of it. */
  lastTryAgeMs(): number
  /** Why deals are not being taken in, or undefined while they are. */
  failure(): string | undefined
  /** Closes the pool; the last thing to do. */
  close(): Promise<void>
}

const applicationName = 'chat-provision-retry consumer'

/**
 * Without a try for so long it stands still. The longest lawful pause is a join that waits a minute
 * for another member's message, after one that had waited as long and failed.
 */
export const longestIntakePauseMs = 180_000

/**
 * Partitions at once. One is enough for the deals of a day; a few, so that a deal whose chat someone
 * else holds locked delays only its own partition.
 */
const lanes = 3

export function createIntake(options: IntakeOptions): Intake {
  const { config, chats, log, metrics, onEventWritten } = options
  const now = (): number => performance.now()
  const db: Kysely<Database> = createDatabase({
    connectionString: config.database.url,
    applicationName,
    max: lanes,
    onConnectionLost: (error) =>
      log.debug({ event: 'database connection lost', err: error }, 'database connection lost'),
  })
  const handler = createMessageHandler({
    db,
    topic: config.outbox.topic,
    provisioning: createProvisionContext(chats, config.retry.participantRoles),
    probe: () => probeDatabase(config.database.url, `${applicationName} probe`),
    random: Math.random,
    log,
    tally: createTally(log, metrics.provisioning, onEventWritten),
    now,
    onTry: () => loop.noteTry(),
    onParked: () => metrics.intake.parked(),
  })
  const loop: DealIntake = new DealIntake({
    runSession: (events, stopping) =>
      runKafkaSession(
        {
          ...events,
          ...config.intake,
          kafka: config.kafka,
          lanes,
          log,
          handle: (message, over) => handler.handle(message, over),
        },
        stopping,
      ),
    topic: config.intake.topic,
    log,
    now,
    random: Math.random,
  })
  return {
    start: () => loop.start(),
    stop: () => loop.stop(),
    lastTryAgeMs: () => loop.lastTryAgeMs(),
    failure: () => {
      if (handler.failure !== undefined) return `waits for the database (${handler.failure})`
      return loop.brokerFailure()
    },
    close: () => db.destroy(),
  }
}
