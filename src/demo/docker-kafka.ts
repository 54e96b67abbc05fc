/** A Kafka broker in a container, by the docker command: no library, for it asks only five things. */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { startServerProcess } from './servers/server-process.js'

const run = promisify(execFile)

export const kafkaImage = 'apache/kafka:4.1.1'
/** An engine answers in a blink; one that doesn't is taken for absent. */
const answerTimeoutMs = 4_000
/** Minutes on a slow line: then the next rung of the ladder is the quicker way. */
const pullTimeoutMs = 90_000
/** The broker closes its log within seconds; the data is thrown away anyhow. */
const stopTimeoutMs = 10_000

/** Why no container can be run here, or undefined. */
export async function whyNoDocker(): Promise<string | undefined> {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}'], {
      timeout: answerTimeoutMs,
    })
    return undefined
  } catch (error) {
    const { code, killed, stderr } = error as { code?: unknown; killed?: true; stderr?: string }
    if (code === 'ENOENT') return 'there is no docker command'
    if (killed === true) return `its engine gave no answer within ${answerTimeoutMs / 1000} s`
    return lastLine(stderr)
  }
}

/**
 * Makes sure of the image, downloading it if need be.
 *
 * @throws Error that says why it can't be had
 */
export async function getKafkaImage(
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const has = await run('docker', ['image', 'inspect', kafkaImage], {
    timeout: answerTimeoutMs,
  }).then(
    () => true,
    () => false,
  )
  if (has) return
  say(`Docker gets the image ${kafkaImage}, once …`)
  try {
    await run('docker', ['pull', '--quiet', kafkaImage], { timeout: pullTimeoutMs, signal })
  } catch (cause) {
    const { killed, stderr } = cause as { killed?: true; stderr?: string }
    const why = killed === true ? `it took longer than ${pullTimeoutMs / 1000} s` : lastLine(stderr)
    throw new Error(`the image ${kafkaImage} is not here and can't be had: ${why}`, { cause })
  }
}

export interface DockerKafka {
  /** Resolves, never rejects, once the container has ended: with its last lines. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

/** The container runs; when its broker answers at `port` of this machine is the caller's to find out. */
export async function runKafkaContainer(port: number): Promise<DockerKafka> {
  const name = `chat-provision-retry-demo-${randomBytes(4).toString('hex')}`
  const settings = Object.entries(brokerSettings(port)).flatMap(([key, value]) => [
    '--env',
    `${key}=${value}`,
  ])
  // Attached, so that whatever ends the docker command (its watchdog too) ends the container.
  const container = await startServerProcess({
    command: 'docker',
    args: [
      ...['run', '--rm', '--name', name, '--publish', `127.0.0.1:${port}:9092`],
      ...settings,
      kafkaImage,
    ],
    orphanSignal: 'TERM',
  })
  return {
    ended: container.exited.then(() => container.lastLines()),
    stop: async () => {
      await container.end('SIGTERM', stopTimeoutMs)
      // Where the command had to be killed, the container outlived it.
      await run('docker', ['rm', '--force', name], { timeout: stopTimeoutMs }).catch(
        () => undefined,
      )
    },
  }
}

/** One KRaft node; without these the image's defaults would have it tell clients its own name. */
export function brokerSettings(port: number): Record<string, string> {
  return {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_LISTENERS: 'PLAINTEXT://0.0.0.0:9092,CONTROLLER://localhost:9093',
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
  }
}

function lastLine(text: string | undefined): string {
  return text?.trim().split('\n').at(-1) ?? 'it says nothing'
}
