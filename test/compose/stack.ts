/** The containers of docker-compose.yml, and how a test looks into them, feeds them and kills them. */

import { sql, type Kysely } from 'kysely'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import type { Database } from '../../src/postgres/schema.js'
import { connectAdmin } from '../support/database-template.js'
import type { TopicMessage } from '../support/kafka.js'
import { waitFor } from '../support/wait-for.js'
import { docker, findCompose, type Compose } from './engine.js'
import { parseMessages } from './printed-messages.js'

const topic = 'pin.messenger.deal-chat-status-changed.v1'
/** As docker-compose.yml says. */
const adminLogin = 'postgres:demo-only'

export interface Stack {
  readonly admin: Kysely<Database>
  /** As docker-compose.yml says, for the invariants. */
  readonly maxAttempts: number
  up(): Promise<void>
  /** SIGKILL: no process of the container is told. */
  kill(service: string): Promise<void>
  start(service: string): Promise<void>
  /** One field of `docker inspect`. */
  inspect(service: string, field: string): Promise<string>
  exec(service: string, ...command: string[]): Promise<string>
  /** All that the topic holds; never fewer than the events that are marked as published. */
  messages(): Promise<readonly TopicMessage[]>
  logs(): Promise<string>
  /** Removes containers and volumes. */
  down(): Promise<void>
}

export async function describeStack(): Promise<Stack> {
  const port = await findFreePort()
  const compose = await findCompose(
    'chat-provision-retry-proof',
    ['docker-compose.yml', 'test/compose/ports.yml'],
    { PROOF_POSTGRES_PORT: String(port) },
  )
  const admin = connectAdmin(`postgres://${adminLogin}@127.0.0.1:${port}/pin`)
  const exec = (service: string, ...command: string[]): Promise<string> =>
    compose('exec', '-T', service, ...command)
  return {
    admin,
    maxAttempts: 5,
    up: async () => {
      await compose('up', '--detach')
    },
    kill: async (service) => {
      await docker('kill', await idOf(compose, service))
    },
    start: async (service) => {
      await docker('start', await idOf(compose, service))
    },
    inspect: async (service, field) =>
      docker('inspect', '--format', `{{${field}}}`, await idOf(compose, service)),
    exec,
    messages: async () => {
      const published = await publishedEvents(admin)
      // On a busy machine the tool's time may be over before it has begun to read.
      return waitFor(
        `${published} messages on the topic`,
        async () => {
          const messages = parseMessages(await exec('kafka', ...consoleConsumer))
          return messages.length >= published && messages
        },
        { timeoutMs: 180_000 },
      )
    },
    logs: () => compose('logs', '--no-color', '--tail', '40'),
    down: async () => {
      await admin.destroy()
      await compose('down', '--volumes', '--timeout', '5')
    },
  }
}

async function publishedEvents(admin: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from messenger.outbox_events where published_at is not null
  `.execute(admin)
  return rows[0]?.n ?? 0
}

async function idOf(compose: Compose, service: string): Promise<string> {
  const [id = ''] = (await compose('ps', '--all', '--quiet', service)).split('\n')
  if (id === '') throw new Error(`there is no container of the service ${service}`)
  return id
}

/** Reads all there is; the time limit runs from the last message. */
const consoleConsumer = [
  '/opt/kafka/bin/kafka-console-consumer.sh',
  ...['--bootstrap-server', 'kafka:9092', '--topic', topic],
  ...['--from-beginning', '--timeout-ms', '5000'],
  ...['timestamp', 'partition', 'offset', 'headers', 'key'].flatMap((what) => [
    '--property',
    `print.${what}=true`,
  ]),
]
