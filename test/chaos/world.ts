/** A PostgreSQL of its own, a topic, and several `serve` processes that chaos may do anything to. */

import { randomBytes } from 'node:crypto'
import { installChatFaults } from '../../src/demo/chat-faults.js'
import { startTestPostgres, type TestPostgres } from '../support/servers.js'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Database } from '../../src/postgres/schema.js'
import { startCli, type RunningCli } from '../support/cli.js'
import {
  connectAdmin,
  databaseUrl,
  makeTemplate,
  workerLogin,
} from '../support/database-template.js'
import { waitFor } from '../support/wait-for.js'
import { createTopic, kafkaBrokers, readTopic, type TopicMessage } from '../support/kafka.js'

/** Generous beside what a row is hit by, so that only poison reaches it. */
export const maxAttempts = 20

export class World {
  readonly postgres: TestPostgres
  readonly adminUrl: string
  readonly admin: Kysely<Database>
  readonly topic: string
  readonly maxAttempts = maxAttempts
  readonly instances: RunningCli[] = []
  readonly #environment: Record<string, string>

  private constructor(
    postgres: TestPostgres,
    adminUrl: string,
    topic: string,
    environment: Record<string, string>,
  ) {
    this.postgres = postgres
    this.adminUrl = adminUrl
    this.admin = connectAdmin(adminUrl)
    this.topic = topic
    this.#environment = environment
  }

  static async create(instances: number): Promise<World> {
    const postgres = await startTestPostgres()
    const template = await makeTemplate(postgres.url)
    const name = `chaos_${randomBytes(4).toString('hex')}`
    const server = connectAdmin(postgres.url)
    await sql`create database ${sql.id(name)} template ${sql.id(template)}`.execute(server)
    await server.destroy()
    const adminUrl = databaseUrl(postgres.url, name)
    const workerUrl = new URL(adminUrl)
    workerUrl.username = workerLogin.name
    workerUrl.password = workerLogin.password
    const topic = await createTopic()
    const world = new World(postgres, adminUrl, topic, {
      DATABASE_URL: workerUrl.href,
      KAFKA_BROKERS: (await kafkaBrokers()).join(','),
      OUTBOX_TOPIC: topic,
      OUTBOX_POLL_INTERVAL: '200ms',
      HTTP_PORT: '0',
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
      CHAT_PROVISION_RETRY_MAX_ATTEMPTS: String(maxAttempts),
      CHAT_PROVISION_RETRY_BACKOFF_BASE: '50ms',
      CHAT_PROVISION_RETRY_BACKOFF_CAP: '200ms',
      CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: '500ms',
      CHAT_PROVISION_RETRY_MAX_RUN_DURATION: '10s',
      CHAT_PROVISION_RETRY_LOCK_TTL: '12s',
    })
    await installChatFaults(world.admin)
    world.startInstances(instances)
    return world
  }

  startInstances(count: number): void {
    for (let n = 0; n < count; n += 1) this.instances.push(this.#start())
  }

  #start(): RunningCli {
    return startCli(['serve'], this.#environment)
  }

  /** The instance has tried a cycle: it works, or it stands by. */
  async untilInStride(index: number): Promise<void> {
    const instance = this.instances[index]
    await waitFor('a worker to try a cycle', () =>
      instance?.log().some((line) => /^cycle (started|skipped)$/.test(String(line['event']))),
    )
  }

  /** Signals one instance, waits for its end, and puts a new one in its place. */
  async replace(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const instance = this.instances[index]
    if (instance === undefined) throw new Error(`there is no instance ${index}`)
    instance.child.kill(signal)
    const exitCode = await instance.exited
    this.instances[index] = this.#start()
    return exitCode
  }

  messages(): Promise<readonly TopicMessage[]> {
    return readTopic(this.topic)
  }

  async untilPublished(): Promise<void> {
    await waitFor('every event to be published', async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from messenger.outbox_events where published_at is null
      `.execute(this.admin)
      return rows[0]?.n === 0
    })
  }

  async stopInstances(): Promise<void> {
    for (const instance of this.instances.splice(0)) {
      instance.child.kill('SIGTERM')
      await instance.exited
    }
  }

  async stop(): Promise<void> {
    for (const instance of this.instances.splice(0)) {
      instance.child.kill('SIGKILL')
      await instance.exited
    }
    await this.admin.destroy()
    await this.postgres.stop()
  }
}
