/**
 * A real PostgreSQL on a free local port, for the demo and the tests: no installation, no Docker.
 *
 * It can be stopped, killed, frozen and started again on the same port and data folder, because
 * outages are what this product is about.
 */

import { randomBytes } from 'node:crypto'
import { chown, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { AppError } from '../../errors.js'
import { findFreePort } from './free-port.js'
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.js'
import { makeTemporaryFolder } from './server-cache.js'
import { startServerProcess, type ServerProcess } from './server-process.js'

const run = promisify(execFile)

/** Start-up takes about a second; recovery after a kill, on a loaded machine, much longer. */
const startTimeoutMs = 60_000
/** Short beside a start of about a second, and a failed connection costs next to nothing. */
const probeIntervalMs = 50
/** A fast shutdown ends sessions at once and writes a checkpoint; what takes longer is frozen. */
const stopTimeoutMs = 20_000

export interface EmbeddedPostgresOptions {
  /** A free one where left out. */
  readonly port?: number
  /** As for `postgres`, for example ['-c', 'wal_level=logical']. */
  readonly postgresFlags?: readonly string[]
  /** Receives each line that the server writes. */
  readonly log?: (line: string) => void
}

interface Installation {
  readonly binaries: PostgresBinaries
  /** Holds the data folder; removed as a whole. */
  readonly folder: string
  readonly password: string
}

export class EmbeddedPostgres {
  readonly port: number
  readonly dataDir: string
  /** Of the superuser, for database postgres. */
  readonly url: string
  readonly #installation: Installation
  readonly #options: EmbeddedPostgresOptions
  #server: ServerProcess | undefined

  constructor(port: number, installation: Installation, options: EmbeddedPostgresOptions) {
    this.port = port
    this.dataDir = join(installation.folder, 'data')
    this.url = `postgres://postgres:${installation.password}@127.0.0.1:${port}/postgres`
    this.#installation = installation
    this.#options = options
  }

  /** Of the postmaster, for signals; throws while the server is down. */
  get pid(): number {
    if (this.#server === undefined || this.#server.hasExited()) {
      throw new Error('PostgreSQL is not running')
    }
    return this.#server.pid
  }

  /** Starts, or starts again, on the same port and data; returns once it answers a query. */
  async start(): Promise<void> {
    if (this.#server?.hasExited() === false) return
    const deadline = Date.now() + startTimeoutMs
    for (;;) {
      const server = await this.#spawn()
      this.#server = server
      if (await this.#answers(server, deadline)) return
      // After a kill, the old server's children hold its shared memory for a moment longer.
      if (
        server.lastLines().includes('pre-existing shared memory block') &&
        Date.now() < deadline
      ) {
        await delay(probeIntervalMs)
        continue
      }
      server.signal('SIGKILL')
      throw new AppError(
        'DATABASE_UNAVAILABLE',
        `The embedded PostgreSQL did not start on port ${this.port}:\n${server.lastLines()}`,
      )
    }
  }

  /** Ends every session and shuts down in good order; the data stays, for start(). */
  async shutDown(): Promise<void> {
    await this.#server?.end('SIGINT', stopTimeoutMs)
  }

  /** As by a crash: no session is told, nothing is written; the data stays, for start(). */
  async kill(): Promise<void> {
    await this.#server?.end('SIGKILL', stopTimeoutMs)
  }

  async restart(): Promise<void> {
    await this.shutDown()
    await this.start()
  }

  /** Shuts down for good and removes the data. */
  async stop(): Promise<void> {
    await this.shutDown()
    await rm(this.#installation.folder, { recursive: true, force: true })
  }

  /** Hands the running server over: it outlives this program, and whoever ends it removes `folder`. */
  leaveRunning(): { pid: number; folder: string } {
    const { pid } = this
    this.#server?.leaveRunning()
    return { pid, folder: this.#installation.folder }
  }

  async #spawn(): Promise<ServerProcess> {
    const flags = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
    return startServerProcess({
      command: this.#installation.binaries.postgres,
      args: [
        ...['-D', this.dataDir, '-p', String(this.port), ...flags],
        ...(this.#options.postgresFlags ?? []),
      ],
      owner: this.#installation.binaries.owner,
      cwd: this.dataDir,
      orphanSignal: 'QUIT',
      orphanFolder: this.#installation.folder,
      onLine: this.#options.log,
    })
  }

  async #answers(server: ServerProcess, deadline: number): Promise<boolean> {
    while (!server.hasExited() && Date.now() < deadline) {
      // Of another server on this port the password is another, so only our own can answer.
      const client = new pg.Client({ connectionString: this.url })
      client.on('error', () => undefined)
      try {
        await client.connect()
        await client.query('select 1')
        return true
      } catch {
        await delay(probeIntervalMs)
      } finally {
        await client.end().catch(() => undefined)
      }
    }
    return false
  }
}

/** @throws AppError DATABASE_UNAVAILABLE where the package is missing or the server won't start. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const binaries = await findPostgresBinaries()
  const folder = await makeTemporaryFolder('chat-provision-retry-postgres-')
  const installation = { binaries, folder, password: randomBytes(16).toString('hex') }
  try {
    await initialise(installation)
    const postgres = new EmbeddedPostgres(
      options.port ?? (await findFreePort()),
      installation,
      options,
    )
    await postgres.start()
    return postgres
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function initialise({ binaries, folder, password }: Installation): Promise<void> {
  const { owner, initdb } = binaries
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (owner !== undefined) {
    await Promise.all([folder, passwordFile].map((path) => chown(path, owner.uid, owner.gid)))
  }
  await run(
    initdb,
    [
      ...['--pgdata', join(folder, 'data'), '--username', 'postgres', '--pwfile', passwordFile],
      // Over TCP alone, so a password: other users of the machine reach the port too.
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--no-sync'],
    ],
    { ...(owner ?? {}), cwd: folder },
  )
  await rm(passwordFile)
}
