/** Debian's pgbouncer in transaction mode before the run's PostgreSQL, for tests of poolers. */

import { existsSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { describe, inject } from 'vitest'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { makeTemporaryFolder } from '../../src/demo/servers/server-cache.js'
import { startServerProcess } from '../../src/demo/servers/server-process.js'
import { serverUser } from '../../src/demo/servers/server-user.js'
import { workerLogin } from './database-template.js'
import { mustRun } from './must-run.js'
import { waitFor } from './wait-for.js'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(
  (path) => existsSync(path),
)

/** As vitest's describe; skipped loudly where pgbouncer is not installed, failing in CI. */
export const describeWithPgbouncer = mustRun(
  'pgbouncer',
  program === undefined
    ? 'pgbouncer is not installed (scripts/install-test-tools.sh does it)'
    : undefined,
  describe,
)

/** It ends its sessions within milliseconds; what takes longer is frozen. */
const stopTimeoutMs = 5_000

export interface Pgbouncer {
  readonly port: number
  readonly pid: number
  /** Of one database of the run's PostgreSQL, for the worker's least-privilege login. */
  url(databaseName: string): string
  /** Stop it before the database's leak check: it keeps sessions of its own open. */
  stop(): Promise<void>
}

export interface PgbouncerOptions {
  /** Server sessions for each database; few, so that clients have to share them. 2 where left out. */
  readonly poolSize?: number
}

export async function startPgbouncer(options: PgbouncerOptions = {}): Promise<Pgbouncer> {
  if (program === undefined) throw new Error('pgbouncer is not installed')
  const postgres = inject('postgres')
  const port = await findFreePort()
  const owner = await serverUser()
  const folder = await makeTemporaryFolder('chat-provision-retry-pgbouncer-')
  const configFile = join(folder, 'pgbouncer.ini')
  await writeFile(configFile, configuration(postgres.port, port, options.poolSize ?? 2))
  // It holds only a password of the tests, and pgbouncer reads it as another user than root.
  await chmod(folder, 0o755)
  const server = await startServerProcess({
    command: program,
    args: [configFile],
    owner,
    orphanSignal: 'TERM',
    orphanFolder: folder,
  })
  const url = (databaseName: string): string =>
    `postgres://${workerLogin.name}:${workerLogin.password}@127.0.0.1:${port}/${databaseName}`
  const stop = async (): Promise<void> => {
    await server.end('SIGTERM', stopTimeoutMs)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await waitFor('pgbouncer to answer', async () => {
      // Its console, a database of its own: no session is opened on PostgreSQL.
      const client = new pg.Client({ connectionString: url('pgbouncer') })
      await client.connect()
      await client.end()
      return true
    })
  } catch (cause) {
    await stop()
    throw new Error(`pgbouncer did not start:\n${server.lastLines()}`, { cause })
  }
  return { port, pid: server.pid, url, stop }
}

function configuration(postgresPort: number, port: number, poolSize: number): string {
  const { name, password } = workerLogin
  return `
[databases]
* = host=127.0.0.1 port=${postgresPort} user=${name} password=${password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = ${name}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
`
}
