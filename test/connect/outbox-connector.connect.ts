/**
 * Debezium with the files of deploy/connect, beside this service's own relay on the same rows: the
 * same key, value bytes, headers and partition; and nothing lost when Connect is killed.
 */

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/demo/servers/embedded-postgres.js'
import { appendDealChatStatusChanged } from '../../src/outbox/append-event.js'
import { drainOutbox } from '../../src/outbox/drain-outbox.js'
import { KafkaPublisher } from '../../src/outbox/kafka-publisher.js'
import { migrateUp } from '../../src/postgres/migrator.js'
import type { Database } from '../../src/postgres/schema.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { connectAdmin } from '../support/database-template.js'
import {
  createTopic,
  describeWithKafka,
  kafkaBrokers,
  kafkaClient,
  readTopic,
  type TopicMessage,
} from '../support/kafka.js'
import { waitFor } from '../support/wait-for.js'
import { comparable, dealsOutOfOrder, firstDeliveries } from './delivered.js'
import { createKafkaConnect, type KafkaConnect } from './kafka-connect.js'

const partitions = 3
/** The slot moves at the connector's heartbeat, every 10 s; caught up means two of them at most. */
const caughtUp = { timeoutMs: 90_000 }

const silentLog = createLogger({ level: 'silent' })
const ignore = (): void => undefined

/** Statement by statement, as psql does: the slot can't be made in a transaction that has written. */
async function runSlotScript(db: Kysely<Database>): Promise<void> {
  const script = new URL('../../deploy/connect/slot.sql', import.meta.url)
  const text = (await readFile(script, 'utf8')).replace(/^--.*$/gm, '')
  for (const statement of text.split(';')) {
    if (statement.trim() !== '') await sql.raw(statement).execute(db)
  }
}

/** Readers ignore what they don't know, so a later producer may write all of this. */
const unusualPayload = (dealId: string): string =>
  `{ "Zeta": 1.0,\t"DealId":"${dealId}", "Big": 12345678901234567890, "E": 1e3, "N": null,` +
  ` "Empty": [], "Text": "é ☃ 𝄞 \\u00e9", "ChatId": null, "Status": "Failed",` +
  ` "OccurredAt": "2026-01-02T03:04:05.678Z" }`

/** As another producer might: text that a JSON parser would change, on a full second. */
async function insertUnusualPayload(db: Kysely<Database>, topic: string): Promise<void> {
  const dealId = randomUUID()
  await sql`
    insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, occurred_at)
    values (${randomUUID()}, 'DealChatProvision', ${dealId}, 'DealChatStatusChanged', ${topic}, 1,
      ${unusualPayload(dealId)}::json, '2026-01-02T03:04:05Z')
  `.execute(db)
}

describeWithKafka('the connector of deploy/connect', () => {
  let postgres: EmbeddedPostgres
  let db: Kysely<Database>
  let connect: KafkaConnect
  let topic: string

  beforeAll(async () => {
    postgres = await startEmbeddedPostgres({ postgresFlags: ['-c', 'wal_level=logical'] })
    db = connectAdmin(postgres.url)
    await migrateUp(db, ['service', 'reference'])
    await runSlotScript(db)
    await sql`alter role outbox_relay password 'relay'`.execute(db)
    topic = await createTopic({ partitions })
    const admin = (await kafkaClient()).admin()
    await admin.connect()
    await admin.createTopics({ topics: [{ topic: '__debezium-heartbeat.pin-messenger' }] })
    await admin.disconnect()
    connect = await createKafkaConnect({
      brokers: await kafkaBrokers(),
      environment: {
        CONNECT_DATABASE_HOST: '127.0.0.1',
        CONNECT_DATABASE_PORT: String(postgres.port),
        CONNECT_DATABASE_NAME: 'postgres',
        CONNECT_DATABASE_PASSWORD: 'relay',
      },
    })
  })

  afterAll(async () => {
    await connect.stop()
    await db.destroy()
    await postgres.stop()
  })

  async function append(dealId: string, n: number): Promise<string> {
    const status = (['Provisioning', 'Failed', 'Ready'] as const)[n % 3] ?? 'Ready'
    const event = {
      topic,
      dealId,
      chatId: status === 'Ready' ? randomUUID() : null,
      status,
      correlationId: n % 2 === 0 ? randomUUID() : null,
      traceparent: n % 5 === 0 ? `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` : null,
    }
    return db.transaction().execute((trx) => appendDealChatStatusChanged(trx, event))
  }

  /** Several deals at once, each deal's events one after another, as under its row's lock. */
  async function write(deals: readonly string[], each: number): Promise<void> {
    const writers = deals.map(async (dealId, deal) => {
      for (let n = 0; n < each; n += 1) await append(dealId, deal + n)
    })
    await Promise.all(writers)
  }

  async function relayedSoFar(): Promise<number> {
    const admin = (await kafkaClient()).admin()
    await admin.connect()
    const ends = await admin.fetchTopicOffsets(topic)
    await admin.disconnect()
    return ends.reduce((sum, { high }) => sum + Number(high), 0)
  }

  async function untilCaughtUp(): Promise<void> {
    const { rows } = await sql<{ lsn: string }>`select pg_current_wal_insert_lsn() as lsn`.execute(
      db,
    )
    await waitFor(
      'the slot to confirm all that was written',
      async () => {
        const { rows: confirmed } = await sql`
          select from pg_replication_slots where confirmed_flush_lsn >= ${rows[0]?.lsn}::pg_lsn
        `.execute(db)
        return confirmed.length === 1
      },
      caughtUp,
    )
  }

  /** The same rows by this service's own relay, into a topic of their own. */
  async function relayOurselves(): Promise<readonly TopicMessage[]> {
    const mirror = await createTopic({ partitions })
    await sql`update messenger.outbox_events set topic = ${mirror}`.execute(db)
    const kafka = { clientId: 'mirror', ssl: false, sslCaFile: undefined, sasl: undefined }
    const publisher = new KafkaPublisher({
      kafka: { ...kafka, brokers: await kafkaBrokers() },
      sendTimeoutMs: 15_000,
      log: silentLog,
    })
    const options = {
      connectionString: postgres.url,
      applicationName: 'mirror',
      topic: mirror,
      pollIntervalMs: 1_000,
      batchSize: 500,
      maxAttempts: 10,
      sendTimeoutMs: 15_000,
      retentionMs: 86_400_000,
    }
    const metrics = { published: ignore, staleMarks: ignore, parked: ignore }
    const rest = { metrics, log: silentLog, random: Math.random, now: () => performance.now() }
    try {
      const drained = await drainOutbox(
        options,
        { publisher, ...rest },
        AbortSignal.timeout(60_000),
      )
      expect(drained.failure).toBeUndefined()
    } finally {
      await publisher.close()
    }
    return readTopic(mirror)
  }

  test('killed in the middle it loses nothing, and says what our own relay says', async () => {
    // From before Connect's first start, for the slot is older.
    const deals = Array.from({ length: 20 }, () => randomUUID())
    await write(deals, 5)
    await connect.start()
    const writing = write(deals, 100)
    await waitFor('some to be relayed', async () => (await relayedSoFar()) > 300, caughtUp)
    await connect.kill()
    const atDeath = await relayedSoFar()
    await writing
    await insertUnusualPayload(db, topic)
    await connect.start()
    await untilCaughtUp()

    const relayed = await readTopic(topic)
    const { rows } = await sql<{ id: string }>`select id from messenger.outbox_events`.execute(db)
    const byId = firstDeliveries(relayed)
    expect(new Set(byId.keys())).toEqual(new Set(rows.map(({ id }) => id)))
    expect(atDeath).toBeLessThan(rows.length)
    expect(dealsOutOfOrder(byId.values())).toEqual([])

    const ours = await relayOurselves()
    expect(ours).toHaveLength(rows.length)
    const theirs = ours.map(({ headers }) => byId.get(headers['ce_id'] ?? ''))
    expect(theirs.map((message) => message && comparable(message))).toEqual(ours.map(comparable))
    // A redelivery is the same message, byte for byte.
    for (const message of relayed) {
      const first = byId.get(message.headers['ce_id'] ?? '')
      expect(comparable(message)).toEqual(first && comparable(first))
    }
    process.stderr.write(
      `Debezium: ${rows.length} events, ${atDeath} relayed at the kill, ` +
        `${relayed.length - rows.length} redelivered, 0 lost, 0 different\n`,
    )
  })
})
