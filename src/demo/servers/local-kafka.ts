/** A real Kafka on free local ports, one node or several, for the demo and the tests: no Docker. */

import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { findFreePorts } from './free-port.js'
import { fetchKafkaJars } from './kafka-jars.js'
import { KafkaNode, type KafkaNodeExtras } from './kafka-node.js'
import { makeTemporaryFolder } from './server-cache.js'

export { findLocalKafkaTools } from './kafka-jars.js'

export interface LocalKafkaOptions {
  /** How many nodes share one quorum; 1 where left out. */
  readonly nodes?: number
  /** That the first node listens on, for a client that is told before it is up; else a free one. */
  readonly port?: number
  /** Gives the start up, wherever it is, and leaves nothing behind. */
  readonly signal?: AbortSignal
  /**
   * Gives, for the port that a node listens on, the one that its clients are told to use: that of a
   * proxy, for a Kafka client leaves its first address for the one that the broker names.
   */
  readonly advertise?: (port: number) => Promise<number>
  /** For the only node: listeners of several nodes can't share a port. */
  readonly extras?: KafkaNodeExtras
  /** Gets lines of progress where the jars have to be fetched first. */
  readonly log?: (line: string) => void
  /** Gets what the nodes write, warnings and errors. */
  readonly brokerLog?: (line: string) => void
}

export interface LocalKafka {
  /** host:port of each node, for clients. */
  readonly brokers: string[]
  /** Each can be stopped, killed, frozen by its pid, and started again. */
  readonly nodes: readonly KafkaNode[]
  /** Ends all nodes at once and removes their logs. */
  stop(): Promise<void>
}

/** @throws AppError BROKER_UNAVAILABLE where the jars can't be had or a node won't start. */
export async function startLocalKafka(options: LocalKafkaOptions = {}): Promise<LocalKafka> {
  const { signal } = options
  const jars = await fetchKafkaJars(options.log ?? (() => undefined), signal)
  const folder = await makeTemporaryFolder('chat-provision-retry-kafka-')
  const nodes = await describeNodes(options, jars, folder)
  const stop = async (): Promise<void> => {
    // Their logs are thrown away, so there is nothing to be gained by a controlled shutdown.
    await Promise.all(nodes.map((node) => node.kill()))
    await rm(folder, { recursive: true, force: true })
  }
  const giveUp = (): void => nodes.forEach((node) => void node.kill())
  try {
    await Promise.all(nodes.map((node) => node.prepare()))
    signal?.throwIfAborted()
    signal?.addEventListener('abort', giveUp)
    // Together, for one alone of several finds no quorum and waits.
    await Promise.all(nodes.map((node) => node.start()))
  } catch (error) {
    await stop()
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
  return { brokers: nodes.map((node) => node.broker), nodes, stop }
}

async function describeNodes(
  { nodes: count = 1, port: firstPort, advertise, extras, brokerLog: log }: LocalKafkaOptions,
  jars: string,
  folder: string,
): Promise<KafkaNode[]> {
  const ports = await findFreePorts(2 * count)
  const controllerPorts = ports.splice(count)
  if (firstPort !== undefined) ports[0] = firstPort
  const quorum = controllerPorts.map((port, index) => `${index + 1}@127.0.0.1:${port}`)
  const shared = { quorum, jars, folder, clusterId: newClusterId(), extras, log }
  return Promise.all(
    ports.map(
      async (port, index) =>
        new KafkaNode({
          ...shared,
          id: index + 1,
          port,
          advertisedPort: (await advertise?.(port)) ?? port,
          controllerPort: controllerPorts[index] as number,
        }),
    ),
  )
}

/** A UUID of 16 bytes in 22 characters, not the first a dash: that would be taken for an option. */
function newClusterId(): string {
  const bytes = randomBytes(16)
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0)
  return bytes.toString('base64url')
}
