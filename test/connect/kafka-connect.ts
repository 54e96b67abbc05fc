/** Kafka Connect standalone with the files of deploy/connect, which can be killed and come back. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { makeTemporaryFolder } from '../../src/demo/servers/server-cache.js'
import { startServerProcess, type ServerProcess } from '../../src/demo/servers/server-process.js'
import { waitFor } from '../support/wait-for.js'
import { fetchConnectJars } from './connect-jars.js'

const deployed = new URL('../../deploy/connect/', import.meta.url)
/** It starts in ten seconds, and on two busy cores in several times that. */
const startTimeoutMs = 120_000

export interface KafkaConnectOptions {
  readonly brokers: readonly string[]
  /** What the connector's file takes from the environment. */
  readonly environment: Readonly<Record<string, string>>
}

export interface KafkaConnect {
  /** Starts, or starts again with the same offsets; returns once the task runs. */
  start(): Promise<void>
  /** As by a crash. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export async function createKafkaConnect(options: KafkaConnectOptions): Promise<KafkaConnect> {
  const jars = await fetchConnectJars()
  const folder = await makeTemporaryFolder('chat-provision-retry-connect-')
  const address = `http://127.0.0.1:${await findFreePort()}`
  const worker = join(folder, 'worker.properties')
  await writeFile(
    worker,
    withSettings(await readFile(new URL('worker.properties', deployed), 'utf8'), {
      'bootstrap.servers': options.brokers.join(),
      listeners: address,
      'offset.storage.file.filename': join(folder, 'offsets'),
      // Here the connector is on the class path.
      'plugin.path': '',
    }),
  )
  let server: ServerProcess | undefined
  const kill = async (): Promise<void> => {
    await server?.end('SIGKILL', 0)
  }
  return {
    start: async () => {
      const started = await startServerProcess({
        command: 'java',
        args: [
          ...['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
          '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
          ...['-cp', join(jars, '*'), 'org.apache.kafka.connect.cli.ConnectStandalone', worker],
          fileURLToPath(new URL('outbox-connector.properties', deployed)),
        ],
        environment: { PATH: process.env['PATH'] ?? '', ...options.environment },
        orphanSignal: 'KILL',
        orphanFolder: folder,
      })
      server = started
      const task = waitFor(`Connect's task to run`, () => taskRuns(address, started), {
        timeoutMs: startTimeoutMs,
      })
      await task.catch((cause: unknown) => {
        throw new Error(`Connect did not start:\n${started.lastLines()}`, { cause })
      })
    },
    kill,
    stop: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Status {
  readonly tasks: readonly { readonly state: string; readonly trace?: string }[]
}

async function taskRuns(address: string, server: ServerProcess): Promise<boolean> {
  if (server.hasExited()) throw new Error('it has exited')
  const response = await fetch(`${address}/connectors/pin-messenger-outbox/status`)
  const { tasks } = (await response.json()) as Status
  const [task] = tasks
  if (task?.state === 'FAILED') throw new Error(task.trace)
  return task?.state === 'RUNNING'
}

/** The properties with these values in the place of the file's own; one that it lacks is a fault. */
function withSettings(properties: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).reduce((text, [name, value]) => {
    const line = new RegExp(`^${name.replaceAll('.', '\\.')}=.*$`, 'm')
    if (!line.test(text)) throw new Error(`worker.properties has no ${name}`)
    return text.replace(line, () => `${name}=${value}`)
  }, properties)
}
