/**
 * The servers of the tests, by one switch: TEST_SERVERS=embedded (where it is unset) runs programs that npm
 * and Maven bring, TEST_SERVERS=containers runs the published images by Testcontainers.
 *
 * Either can be stopped, killed, frozen by its pid, and started again on the same port with its data.
 */

import { whyNoDocker } from '../../src/demo/docker-kafka.js'
import { startEmbeddedPostgres } from '../../src/demo/servers/embedded-postgres.js'
import { fetchKafkaJars } from '../../src/demo/servers/kafka-jars.js'
import { findLocalKafkaTools, startLocalKafka } from '../../src/demo/servers/local-kafka.js'

export interface TestServerProcess {
  /** For signals. */
  readonly pid: number
  /** Starts it again; nothing to do where it runs. */
  start(): Promise<void>
  kill(): Promise<void>
}

export interface TestPostgres extends TestServerProcess {
  readonly port: number
  /** Of the superuser, for database postgres. */
  readonly url: string
  restart(): Promise<void>
  /** Ends it for good and removes its data. */
  stop(): Promise<void>
}

export interface TestKafka {
  /** host:port of each node, for clients. */
  readonly brokers: string[]
  readonly nodes: readonly TestServerProcess[]
  stop(): Promise<void>
}

export interface TestPostgresOptions {
  /** As for `postgres`, for example ['-c', 'wal_level=logical']. */
  readonly postgresFlags?: readonly string[]
}

export interface TestKafkaOptions {
  /** Gives, for the port that the broker listens on, the one that its clients are told to use. */
  readonly advertise?: (port: number) => Promise<number>
}

const inContainers = readSwitch()

export async function startTestPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  if (!inContainers) return startEmbeddedPostgres(options)
  // Loaded only where it is used: Testcontainers is large.
  const { startContainerPostgres } = await import('./container-postgres.js')
  return startContainerPostgres(options)
}

/** One broker. Clusters, and brokers that want a password, are embedded ones in any case. */
export async function startTestKafka(options: TestKafkaOptions = {}): Promise<TestKafka> {
  if (!inContainers) return startLocalKafka(options)
  const { startContainerKafka } = await import('./container-kafka.js')
  return startContainerKafka(options)
}

/**
 * Why no broker can be run here, or undefined. Fetches the jars of an embedded one as well, once per machine:
 * a test's own time limit is too short for that.
 */
export async function whyNoKafka(): Promise<string | undefined> {
  if (inContainers) return whyNoDocker()
  const tools = await findLocalKafkaTools()
  if (!tools.available) return tools.reason
  try {
    await fetchKafkaJars((line) => process.stderr.write(`${line}\n`))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function readSwitch(): boolean {
  const name = process.env['TEST_SERVERS'] ?? 'embedded'
  if (name === 'containers') return true
  if (name === 'embedded') return false
  throw new Error(`TEST_SERVERS is ${name}; it is embedded or containers`)
}
