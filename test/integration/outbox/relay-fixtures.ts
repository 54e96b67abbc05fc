/** The relay and its publishers as production puts them together, with log and counts kept. */

import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach } from 'vitest'
import type { KafkaOptions } from '../../../src/config/config.js'
import { appendDealChatStatusChanged } from '../../../src/outbox/append-event.js'
import { KafkaPublisher } from '../../../src/outbox/kafka-publisher.js'
import type { Publisher } from '../../../src/outbox/publisher.js'
import { OutboxRelay } from '../../../src/outbox/relay.js'
import type { RelayDependencies, RelayOptions } from '../../../src/outbox/relay-options.js'
import type { ProvisionStatus } from '../../../src/postgres/schema.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import { createTopic, kafkaBrokers } from '../../support/kafka.js'
import type { TestDatabase } from '../../support/test-database.js'

export interface EventSeed {
  readonly topic: string
  readonly dealId?: string
  readonly chatId?: string | null
  readonly status?: ProvisionStatus
  readonly correlationId?: string | null
  readonly traceparent?: string | null
}

export interface SeededEvent {
  readonly id: string
  readonly dealId: string
}

/** Writes one event as the job does, in a transaction of its own. */
export async function appendEvent(database: TestDatabase, seed: EventSeed): Promise<SeededEvent> {
  const event = {
    dealId: randomUUID(),
    chatId: null,
    status: 'Failed' as const,
    correlationId: null,
    traceparent: null,
    ...seed,
  }
  const id = await database.admin
    .transaction()
    .execute((trx) => appendDealChatStatusChanged(trx, event))
  return { id, dealId: event.dealId }
}

/** Writes a row as a foreign producer might, past all checks; the payload names the row's deal. */
export async function insertRaw(
  database: TestDatabase,
  row: Readonly<Record<string, unknown>> & { readonly topic: string },
): Promise<string> {
  const dealId = randomUUID()
  const values = {
    id: randomUUID(),
    aggregate_type: 'DealChatProvision',
    aggregate_id: dealId,
    type: 'DealChatStatusChanged',
    contract_version: 1,
    payload: `{"DealId":"${dealId}","ChatId":null,"Status":"Failed","OccurredAt":"2026-01-02T03:04:05.678Z"}`,
    ...row,
  }
  const columns = Object.keys(values)
  const marks = columns.map((_, index) => `$${index + 1}`)
  await database.query(
    `insert into messenger.outbox_events (${columns.join()}) values (${marks.join()})`,
    Object.values(values),
  )
  return values.id
}

export interface OutboxState {
  readonly state: 'pending' | 'parked' | 'published' | 'superseded' | 'skipped'
  readonly attempts: number
  readonly lastError: string | null
  readonly seq: string
}

export async function outboxState(database: TestDatabase, id: string): Promise<OutboxState> {
  const [row] = await database.query<OutboxState & Record<string, unknown>>(
    `select seq::text, attempts, last_error as "lastError", case
       when published_at is not null then 'published'
       when superseded_at is not null then 'superseded'
       when skipped_at is not null then 'skipped'
       when parked_at is not null then 'parked'
       else 'pending' end as state
     from messenger.outbox_events where id = $1`,
    [id],
  )
  if (row === undefined) throw new Error(`no event ${id}`)
  return row
}

export interface TestRelay {
  readonly relay: OutboxRelay
  readonly options: RelayOptions
  readonly dependencies: RelayDependencies
  /** The log so far, one parsed line each. */
  readonly lines: Record<string, unknown>[]
  /** Lines of one event, such as 'outbox parked'. */
  readonly said: (event: string) => Record<string, unknown>[]
  readonly counted: { published: number; staleMarks: number; parked: number }
}

export interface TestRelayOptions extends Partial<RelayOptions> {
  readonly topic: string
  readonly publisher: Publisher
}

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A relay that polls quickly; what is started is stopped after the test. */
export function createTestRelay(
  database: TestDatabase,
  { publisher, ...overrides }: TestRelayOptions,
): TestRelay {
  const { lines, log } = keptLog()
  const counted = { published: 0, staleMarks: 0, parked: 0 }
  const options: RelayOptions = {
    connectionString: database.url,
    applicationName: 'relay under test',
    pollIntervalMs: 50,
    batchSize: 500,
    maxAttempts: 10,
    sendTimeoutMs: 3_000,
    retentionMs: 7 * 86_400_000,
    ...overrides,
  }
  const dependencies: RelayDependencies = {
    publisher,
    metrics: {
      published: (n) => (counted.published += n),
      staleMarks: (n) => (counted.staleMarks += n),
      parked: (n) => (counted.parked += n),
    },
    log,
    random: Math.random,
    now: () => performance.now(),
  }
  const relay = new OutboxRelay(options, dependencies)
  stops.push(() => relay.stop())
  const said = (event: string): Record<string, unknown>[] =>
    lines.filter((line) => line['event'] === event)
  return { relay, options, dependencies, lines, said, counted }
}

export const plainKafka = {
  clientId: 'under-test',
  ssl: false,
  sslCaFile: undefined,
  sasl: undefined,
}

export const silentLog = createLogger({ level: 'silent' })

/** A publisher to these brokers, or by this access to them, closed after the test. */
export function createTestKafkaPublisher(
  to: readonly string[] | KafkaOptions,
  { sendTimeoutMs = 3_000 }: { sendTimeoutMs?: number } = {},
): KafkaPublisher {
  const publisher = new KafkaPublisher({
    kafka: 'brokers' in to ? to : { ...plainKafka, brokers: to },
    sendTimeoutMs,
    log: silentLog,
  })
  stops.push(() => publisher.close())
  return publisher
}

/**
 * Whether the relay of a `serve` process, which polls ten times a second, has read what waits and not come
 * back from its sending: after this look there was none for so long.
 */
export async function isInSend(database: TestDatabase): Promise<boolean> {
  const sessions = await database.query(
    `select from pg_stat_activity where datname = current_database() and state = 'idle'
       and application_name = 'chat-provision-retry relay'
       and query like '%with due as%' and query_start < clock_timestamp() - interval '2 s'`,
  )
  return sessions.length === 1
}

/** A relay to the run's own broker, and what its tests ask again and again. */
export interface RelayBench {
  /** A new one for each test, with three partitions; a test may put another in its place. */
  topic: string
  /** Starts a relay that is stopped after the test. */
  readonly startRelay: (options?: { maxAttempts?: number }) => Promise<TestRelay>
  readonly append: (seed?: Partial<EventSeed>) => Promise<SeededEvent>
  readonly isPublished: (id: string) => Promise<boolean>
}

/** Registers the hooks: before each test the outbox is empty. Call it inside describeWithKafka. */
export function useRelayBench(database: () => TestDatabase): RelayBench {
  const bench: RelayBench = {
    topic: '',
    startRelay: async (options = {}) => {
      const publisher = createTestKafkaPublisher(await kafkaBrokers())
      const test = createTestRelay(database(), { topic: bench.topic, publisher, ...options })
      test.relay.start()
      return test
    },
    append: (seed = {}) => appendEvent(database(), { topic: bench.topic, ...seed }),
    isPublished: async (id) => (await outboxState(database(), id)).state === 'published',
  }
  beforeEach(async () => {
    bench.topic = await createTopic({ partitions: 3 })
    await database().query('truncate messenger.outbox_events')
  })
  return bench
}

export function keptLog(): {
  lines: Record<string, unknown>[]
  log: ReturnType<typeof createLogger>
} {
  const lines: Record<string, unknown>[] = []
  const log = createLogger({
    level: 'info',
    destination: {
      write: (line: string) => {
        lines.push(JSON.parse(line) as Record<string, unknown>)
      },
    },
  })
  return { lines, log }
}
