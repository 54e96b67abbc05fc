/** What a soak runs on: a PostgreSQL and a Kafka of its own, and `serve` as shipped, with everything on. */

import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { Kafka, logLevel } from 'kafkajs'
import { sql } from 'kysely'
import { installChatFaults } from '../../dist/demo/chat-faults.js'
import { startEmbeddedPostgres } from '../../dist/demo/servers/embedded-postgres.js'
import { startLocalKafka } from '../../dist/demo/servers/local-kafka.js'
import { createDatabase } from '../../dist/postgres/connect.js'
import { migrateUp } from '../../dist/postgres/migrator.js'
import { startServe } from '../frame/serve-process.js'

const grantsFile = new globalThis.URL('../../migrations/grants/worker.sql', import.meta.url)
const probeFile = fileURLToPath(new globalThis.URL('probe.js', import.meta.url))
const workerLogin = 'soak_worker'

export const maxAttempts = 5
export const token = randomBytes(24).toString('hex')
export const topics = { events: 'soak.events', dealCreated: 'soak.deal-created' }

/**
 * The defaults where they don't matter. Waits and retentions are short, so that a row goes through its whole
 * life in a minute and what is to be removed is removed within the run.
 */
const options = {
  CHAT_PROVISION_RETRY_POLLING_INTERVAL: '5s',
  CHAT_PROVISION_RETRY_MAX_ATTEMPTS: String(maxAttempts),
  CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: '30s',
  CHAT_PROVISION_RETRY_BACKOFF_BASE: '2s',
  CHAT_PROVISION_RETRY_BACKOFF_CAP: '10s',
  CHAT_PROVISION_RETRY_MAX_RUN_DURATION: '10s',
  CHAT_PROVISION_RETRY_LOCK_TTL: '15s',
  CHAT_PROVISION_RETRY_RUNS_RETENTION: '5m',
  OUTBOX_RETENTION: '5m',
  OUTBOX_TOPIC: topics.events,
  INTAKE_ENABLED: 'true',
  INTAKE_TOPIC: topics.dealCreated,
  DECK_ADMIN_TOKEN: token,
}

/** @param folder where the log of the measured process goes */
export async function startWorld(folder) {
  const kafka = await startLocalKafka({ log: (line) => process.stderr.write(`${line}\n`) })
  const postgres = await startEmbeddedPostgres()
  const db = createDatabase({
    connectionString: postgres.url,
    applicationName: 'soak',
    max: 5,
    // The statement that is under way rejects with the same error.
    onConnectionLost: () => undefined,
  })
  const environment = {
    ...options,
    DATABASE_URL: await prepareDatabase(db, postgres.url),
    KAFKA_BROKERS: kafka.brokers.join(),
  }
  await createTopics(kafka.brokers)
  const log = createWriteStream(join(folder, 'serve.log'))
  const world = { kafka, postgres, db, environment, probed: undefined }
  world.serve = await startServe(environment, {
    preload: probeFile,
    onLog: (part) => log.write(part),
    onLine: (line) => (world.probed = { at: Date.now(), ...JSON.parse(line) }),
  })
  world.stop = async () => {
    if (!world.serve.hasExited()) world.serve.signal('SIGKILL')
    await db.destroy()
    await postgres.stop()
    await kafka.stop()
    log.end()
  }
  return world
}

async function prepareDatabase(db, adminUrl) {
  await migrateUp(db, ['service', 'reference'])
  await sql.raw(await readFile(grantsFile, 'utf8')).execute(db)
  await installChatFaults(db)
  const password = randomBytes(16).toString('hex')
  await sql`
    create role ${sql.id(workerLogin)} login password ${sql.lit(password)} in role chat_provision_retry
  `.execute(db)
  return Object.assign(new globalThis.URL(adminUrl), { username: workerLogin, password }).href
}

async function createTopics(brokers) {
  const admin = kafkaClient(brokers).admin()
  await admin.connect()
  await admin.createTopics({
    waitForLeaders: true,
    topics: Object.values(topics).map((topic) => ({ topic, numPartitions: 3 })),
  })
  await admin.disconnect()
}

/** kafkajs logs answers that it goes on to retry as errors. */
export function kafkaClient(brokers) {
  return new Kafka({ clientId: 'soak', brokers, logLevel: logLevel.NOTHING })
}

/** @returns the status, or a word for what kept an answer away */
export async function ask(address, method, path, body) {
  try {
    const answer = await globalThis.fetch(`${address}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: globalThis.AbortSignal.timeout(5_000),
      ...(body && { body: JSON.stringify(body) }),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 'no answer'
  }
}
