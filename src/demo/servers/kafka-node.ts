/** One KRaft node, broker and controller in one process, that can be killed and come back. */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { AppError } from '../../errors.js'
import { startServerProcess, type ServerProcess } from './server-process.js'

const run = promisify(execFile)

/** A node is up in about five seconds; several at once, on two busy cores, take far longer. */
const startTimeoutMs = 120_000
const probeIntervalMs = 100
/** A probe that takes longer has met a node that is not ready; the next one asks again. */
const probeTimeoutMs = 2_000
/** A controlled shutdown moves leaderships and closes logs within seconds, if there is a quorum. */
const stopTimeoutMs = 15_000

/** What a node has beside its plain listener, where clients are to prove who they are. */
export interface KafkaNodeExtras {
  /** Further listeners by name. */
  readonly listeners: Readonly<
    Record<
      string,
      { readonly port: number; readonly protocol: 'SSL' | 'SASL_SSL' | 'SASL_PLAINTEXT' }
    >
  >
  /** Further lines of server.properties. */
  readonly settings: Readonly<Record<string, string>>
  /** Options of the storage tool's `format`, such as those that make SCRAM users. */
  readonly formatOptions: readonly string[]
}

export interface KafkaNodeOptions {
  readonly id: number
  readonly port: number
  readonly controllerPort: number
  /** The port that clients are told; another one than `port` where a proxy stands before it. */
  readonly advertisedPort: number
  /** All nodes of the cluster, this one among them, as `id@host:port`. */
  readonly quorum: readonly string[]
  readonly jars: string
  readonly folder: string
  readonly clusterId: string
  readonly extras?: KafkaNodeExtras | undefined
  readonly log?: ((line: string) => void) | undefined
}

export class KafkaNode {
  readonly id: number
  readonly port: number
  /** host:port, for clients. */
  readonly broker: string
  readonly #options: KafkaNodeOptions
  #server: ServerProcess | undefined

  constructor(options: KafkaNodeOptions) {
    this.id = options.id
    this.port = options.port
    this.broker = `127.0.0.1:${options.advertisedPort}`
    this.#options = options
  }

  /** For signals; throws while the node is down. */
  get pid(): number {
    if (this.#server === undefined || this.#server.hasExited()) {
      throw new Error(`Kafka node ${this.id} is not running`)
    }
    return this.#server.pid
  }

  /** Writes its configuration and formats its log folder; once, before the first start. */
  async prepare(): Promise<void> {
    await writeFile(this.#configFile, brokerProperties(this.#options))
    await run('java', [
      ...this.#javaOptions,
      'kafka.tools.StorageTool',
      ...['format', '-t', this.#options.clusterId, '-c', this.#configFile],
      ...(this.#options.extras?.formatOptions ?? []),
    ])
  }

  /** Starts, or starts again, on the same port and logs; returns once it serves as a broker. */
  async start(): Promise<void> {
    if (this.#server?.hasExited() === false) return
    const server = await startServerProcess({
      command: 'java',
      args: [...this.#javaOptions, 'kafka.Kafka', this.#configFile],
      orphanSignal: 'KILL',
      orphanFolder: this.#options.folder,
      onLine: this.#options.log,
    })
    this.#server = server
    const deadline = Date.now() + startTimeoutMs
    while (!server.hasExited() && Date.now() < deadline) {
      if (await this.#serves()) return
      await delay(probeIntervalMs)
    }
    server.signal('SIGKILL')
    throw new AppError(
      'BROKER_UNAVAILABLE',
      `Kafka node ${this.id} did not start on port ${this.port}:\n${server.lastLines()}`,
    )
  }

  /** A controlled shutdown; the log stays, for start(). */
  async stop(): Promise<void> {
    await this.#server?.end('SIGTERM', stopTimeoutMs)
  }

  /** As by a crash; the log stays, for start(). */
  async kill(): Promise<void> {
    await this.#server?.end('SIGKILL', stopTimeoutMs)
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  get #configFile(): string {
    return join(this.#options.folder, `node-${this.id}.properties`)
  }

  /** A small heap and only the quick compiler: it starts in half the time and serves tests well. */
  get #javaOptions(): string[] {
    const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    return [
      ...['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', logging],
      ...['-cp', join(this.#options.jars, '*')],
    ]
  }

  /** The port opens before the node is a broker: only the cluster's own word counts. */
  async #serves(): Promise<boolean> {
    const admin = new Kafka({
      brokers: [this.broker],
      connectionTimeout: probeTimeoutMs,
      requestTimeout: probeTimeoutMs,
      retry: { retries: 0 },
      logLevel: logLevel.NOTHING,
    }).admin()
    try {
      await admin.connect()
      const { brokers } = await admin.describeCluster()
      return brokers.some((broker) => broker.nodeId === this.id)
    } catch {
      // Not yet.
      return false
    } finally {
      await admin.disconnect()
    }
  }
}

function brokerProperties(options: KafkaNodeOptions): string {
  // With three nodes one may be away, as in production.
  const replicas = Math.min(options.quorum.length, 3)
  const extra = Object.entries(options.extras?.listeners ?? {})
  const extraListeners = extra.map(([name, { port }]) => `,${name}://127.0.0.1:${port}`).join('')
  const extraProtocols = extra.map(([name, { protocol }]) => `,${name}:${protocol}`).join('')
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': options.id,
    'controller.quorum.voters': options.quorum.join(','),
    listeners: `PLAINTEXT://127.0.0.1:${options.port},CONTROLLER://127.0.0.1:${options.controllerPort}${extraListeners}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${options.advertisedPort}${extraListeners}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT${extraProtocols}`,
    'log.dirs': join(options.folder, `node-${options.id}`),
    'auto.create.topics.enable': false,
    'default.replication.factor': replicas,
    'min.insync.replicas': Math.max(1, replicas - 1),
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': Math.max(1, replicas - 1),
    // A killed node may register again only after its old session has run out: 9 s as delivered,
    // too long to wait for in each test; much shorter, a busy machine would look like a dead one.
    'broker.session.timeout.ms': 4_000,
    'broker.heartbeat.interval.ms': 500,
    'group.initial.rebalance.delay.ms': 0,
    // A record's timestamp is its event's time; an old one must not expire while it is looked at.
    'log.retention.ms': -1,
    ...options.extras?.settings,
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
