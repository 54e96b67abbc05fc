/** Ends while PostgreSQL gives no answer, before any row is under way: nothing is worth waiting for. */

import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCli, type RunningCli } from '../support/cli.js'
import { Rival } from '../support/rival.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()

/** Far from both what is asked for and the grace period, which a stop that is not heard would use up. */
const soonMs = 6_000
const graceMs = 60_000

let proxy: TcpProxy
let cli: RunningCli | undefined
let rival: Rival | undefined

beforeEach(async () => {
  proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
})
afterEach(async () => {
  cli?.child.kill('SIGKILL')
  await cli?.exited
  await rival?.rollback()
  await proxy.stop()
  cli = rival = undefined
})

function throughProxy(): string {
  const url = new URL(database().url)
  url.port = String(proxy.port)
  return url.href
}

function start(command: 'serve' | 'run-once', options: Record<string, string>): RunningCli {
  cli = startCli([command, ...(command === 'run-once' ? ['--json'] : [])], {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'stdout',
    HTTP_PORT: '0',
    SHUTDOWN_GRACE: `${graceMs}ms`,
    ...options,
  })
  return cli
}

async function expectSoon(started: RunningCli): Promise<void> {
  const { child, exited } = started
  const askedAt = performance.now()
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
  expect(performance.now() - askedAt).toBeLessThan(soonMs)
  // The stop is no trouble to tell of.
  expect(started.log().filter(({ level }) => Number(level) >= 40)).toEqual([])
}

/** Nobody answers from then on: neither the lock that a statement waits for, nor the server. */
async function silenceDuring(session: string, statement: string): Promise<void> {
  await waitFor(`${session} at ${statement}`, async () => {
    const found = await database().query(
      `select 1 from pg_stat_activity where datname = current_database()
         and application_name = $1 and query ilike '%' || $2 || '%'`,
      [session, statement],
    )
    return found.length > 0
  })
  proxy.pauseResponses()
}

describe.each(['serve', 'run-once'] as const)('%s', (command) => {
  it('no answer from the start', async () => {
    proxy.pauseResponses()
    const started = start(command, { DATABASE_URL: throughProxy() })
    await waitFor('a connection', () => proxy.connections() > 0)
    await expectSoon(started)
  })

  it('no answer to whether the tables are there', async () => {
    rival = await Rival.begin(database().adminUrl)
    await rival.query('lock table messenger.chat_provision_migrations in access exclusive mode')
    const started = start(command, { DATABASE_URL: throughProxy() })
    await silenceDuring('chat-provision-retry', 'from "messenger"."chat_provision_migrations"')
    await expectSoon(started)
  })

  it('no answer on the session of the run lock', async () => {
    // So slow that the look at the session falls between two of its statements.
    proxy.delayResponses(1_000)
    const started = start(command, { LOCK_DATABASE_URL: throughProxy() })
    await silenceDuring('chat-provision-retry run lock', 'pg_backend_pid')
    await expectSoon(started)
    if (command === 'run-once')
      expect(JSON.parse(started.stdout())).toMatchObject({ outcome: 'stopped', asOf: null })
  })
})

it('serve: no answer on the session of the relay', async () => {
  proxy.delayResponses(1_000)
  const started = start('serve', { LOCK_DATABASE_URL: throughProxy() })
  await silenceDuring('chat-provision-retry relay', 'pg_backend_pid')
  await expectSoon(started)
})

it('serve: a broker that accepts and says nothing', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  try {
    const started = start('serve', {
      OUTBOX_RELAY: 'kafka',
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      INTAKE_ENABLED: 'true',
      OUTBOX_SEND_TIMEOUT: '50s',
    })
    await waitFor('the relay and the intake to ask', () => sockets.size >= 2)
    await expectSoon(started)
  } finally {
    for (const socket of sockets) socket.destroy()
    silent.close()
  }
})
