/**
 * The real worker, `serve`, as a process of its own: started, killed without warning, started again.
 * It gets an environment made here, so that nothing of the user's options or servers reaches it.
 */

import { createWriteStream, type WriteStream } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from 'node:events'
import type { Environment } from '../config/read-options.js'
import type { ReceivedMessage } from './crm-reader.js'
import { knownRoles, maxAttempts } from './demo-deal.js'
import { DemoFailure } from './demo-failure.js'
import type { RelayPlan } from './kafka-ladder.js'
import { startServerProcess, type ServerProcess } from './servers/server-process.js'

/** `serve` ends within its own grace period of 20 s. */
const stopTimeoutMs = 25_000

/** What any program needs, and where traces go if somebody collects them. */
const inherited = /^(PATH|HOME|TMPDIR|TZ|LANG|SystemRoot|NODE_\w+|OTEL_\w+)$/

/** Short waits, so that three attempts of a row fit into seconds; the meaning is production's. */
export const demoOptions = {
  CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1s',
  CHAT_PROVISION_RETRY_BATCH_SIZE: '50',
  CHAT_PROVISION_RETRY_MAX_ATTEMPTS: String(maxAttempts),
  CHAT_PROVISION_RETRY_BACKOFF_BASE: '500ms',
  CHAT_PROVISION_RETRY_BACKOFF_CAP: '2s',
  CHAT_PROVISION_RETRY_MAX_RUN_DURATION: '20s',
  CHAT_PROVISION_RETRY_LOCK_TTL: '30s',
  // A slow first run fetches a broker for minutes: a young row must not come of age meanwhile.
  CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: '1h',
  CHAT_PROVISION_RETRY_PARTICIPANT_ROLES: knownRoles.join(','),
  OUTBOX_POLL_INTERVAL: '500ms',
}

export interface DemoWorkerOptions {
  readonly databaseUrl: string
  readonly httpPort: number
  readonly environment: Environment
  /** Gets its log, over all its lives. */
  readonly logFile: string
  /** Gets what the stdout relay publishes. */
  readonly onMessage: (message: ReceivedMessage) => void
}

export class DemoWorker {
  readonly #options: DemoWorkerOptions
  readonly #log: WriteStream
  #process: ServerProcess | undefined

  constructor(options: DemoWorkerOptions) {
    this.#options = options
    this.#log = createWriteStream(options.logFile, { flags: 'a', mode: 0o600 })
  }

  /** @throws Error where it runs already */
  async start(plan: RelayPlan): Promise<void> {
    if (this.#process?.hasExited() === false) throw new Error('the worker runs already')
    this.#process = await startServerProcess({
      command: process.execPath,
      args: [cliPath(), 'serve'],
      environment: this.#environment(plan),
      orphanSignal: 'KILL',
      // If the demo itself is killed, nobody is left to read its log.
      orphanFolder: dirname(this.#options.logFile),
      onLine: (line, stream) => {
        if (stream === 'stdout' && plan.relay === 'stdout') this.#receive(line)
        else this.#log.write(`${line}\n`)
      },
    })
  }

  /** As by a crash: nothing is told, nothing is tidied up. */
  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL', stopTimeoutMs)
  }

  /** In good order. */
  async stop(): Promise<void> {
    await this.#process?.end('SIGTERM', stopTimeoutMs)
  }

  /** Stops it and closes its log. */
  async close(): Promise<void> {
    await this.stop()
    this.#log.end()
    await once(this.#log, 'close')
  }

  /** @throws DemoFailure where it has ended without being told to, with its last words */
  assertAlive(): void {
    if (this.#process?.hasExited() !== true) return
    throw new DemoFailure(
      `The worker has ended by itself. Its log is ${this.#options.logFile}; its last lines:\n` +
        this.#process.lastLines(),
    )
  }

  #environment(plan: RelayPlan): Record<string, string> {
    const { databaseUrl, httpPort, environment } = this.#options
    const kept = Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && inherited.test(name) ? [[name, value] as const] : [],
    )
    return {
      ...Object.fromEntries(kept),
      ...demoOptions,
      DATABASE_URL: databaseUrl,
      HTTP_PORT: String(httpPort),
      ...plan.environment,
    }
  }

  #receive(line: string): void {
    try {
      this.#options.onMessage(JSON.parse(line) as ReceivedMessage)
    } catch {
      // The line that a kill has torn: its event is not marked as published, so it comes again.
      this.#log.write(`torn: ${line}\n`)
    }
  }
}

function cliPath(): string {
  return fileURLToPath(new URL('../cli.js', import.meta.url))
}
