/** A PostgreSQL in a container, of the image that docker-compose.yml names. */

import { randomBytes } from 'node:crypto'
import { PostgreSqlContainer } from '@testcontainers/postgresql'
import pg from 'pg'
import { findFreePort } from '../../src/demo/servers/free-port.js'
import { startContainer } from './container-process.js'
import type { TestPostgres, TestPostgresOptions } from './servers.js'

const image = 'postgres:18'
const serverPort = 5432

export async function startContainerPostgres({
  postgresFlags = [],
}: TestPostgresOptions): Promise<TestPostgres> {
  const port = await findFreePort()
  const password = randomBytes(16).toString('hex')
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const server = await startContainer(
    new PostgreSqlContainer(image)
      .withDatabase('postgres')
      .withUsername('postgres')
      .withPassword(password)
      .withCommand(['postgres', ...postgresFlags]),
    { container: serverPort, host: port },
    async () => {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => undefined)
      await client.connect()
      await client.end()
      return true
    },
  )
  return Object.assign(server, { port, url })
}
