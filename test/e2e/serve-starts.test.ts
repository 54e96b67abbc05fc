/** `serve` where something that it needs is not there yet: one clear line for the reason, and no stacks. */

import { createServer, type AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runCli, startCli, type RunningCli } from '../support/cli.js'
import { createTestDatabase, useTestDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
const empty = useTestDatabase({ empty: true })
const running: RunningCli[] = []

afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.child.kill('SIGTERM')
    await cli.exited
  }
})

function serve(environment: Record<string, string>): RunningCli {
  const cli = startCli(['serve'], {
    OUTBOX_RELAY: 'stdout',
    CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
    HTTP_PORT: '0',
    // What is told a second time is told at this level.
    LOG_LEVEL: 'debug',
    ...environment,
  })
  running.push(cli)
  return cli
}

const warnings = (cli: RunningCli) => cli.log().filter(({ level }) => Number(level) >= 40)
const waited = (cli: RunningCli) => cli.log().filter(({ event }) => event === 'cycle waiting')

async function expectOneLine(cli: RunningCli, detail: RegExp): Promise<void> {
  await waitFor('several tries', () => waited(cli).length > 10)
  expect(warnings(cli)).toMatchObject([
    { event: 'cycle waiting', detail: expect.stringMatching(detail) as string },
  ])
  expect(cli.stderr()).not.toContain('"stack"')
  expect(cli.child.exitCode).toBeNull()
}

function without(url: string, change: (changed: URL) => void): string {
  const changed = new URL(url)
  change(changed)
  return changed.href
}

describe('a database that can not be used', () => {
  it.each([
    ['away', (url: URL) => (url.port = '1'), /ECONNREFUSED\): check that it runs/],
    ['under another name', (url: URL) => (url.pathname = '/nowhere'), /no such database/],
    ['by a wrong password', (url: URL) => (url.password = 'wrong'), /user or the password/],
    ['by an unknown user', (url: URL) => (url.username = 'nobody'), /user or the password/],
  ])('%s', async (_name, change, detail) => {
    const url = without(database().url, (changed) => void change(changed))
    await expectOneLine(serve({ DATABASE_URL: url }), detail)
  })

  it('without tables: told once, and all begins when they come', async () => {
    const cli = serve({ DATABASE_URL: empty().adminUrl })
    await expectOneLine(cli, /not there\. Run: chat-provision-retry migrate up$/)
    const health = async (path: string) => {
      const { address } = await cli.logged('http listening')
      return (await fetch(`${String(address)}${path}`)).status
    }
    expect(await health('/healthz')).toBe(200)
    const migrate = ['migrate', 'up', '--reference']
    expect((await runCli(migrate, { DATABASE_URL: empty().adminUrl })).exitCode).toBe(0)
    await cli.logged('cycle completed')
    await cli.logged('outbox relay started')
    await cli.logged('retention done')
    await waitFor('readiness', async () => (await health('/readyz')) === 200)
    // It may look just when the service's tables are there and the messenger's are still to come.
    for (const line of warnings(cli)) {
      const detail = expect.stringMatching(/migrate up( --reference)?$/) as string
      expect(line).toMatchObject({ event: 'cycle waiting', detail })
    }
  })
})

describe('tables that do not fit', () => {
  let other: TestDatabase
  beforeAll(async () => {
    other = await createTestDatabase()
    return async () => {
      await other.close()
      await other.drop()
    }
  })

  it.each([
    [
      'of a former version',
      `delete from messenger.chat_provision_migrations where name = '0002_chokaq.sql'`,
      /^The migration 0002_chokaq\.sql is not applied\. Run:/,
    ],
    [
      'that this role may not use',
      'revoke usage on schema messenger from chat_provision_retry',
      /permission denied for schema messenger/,
    ],
  ])('%s', async (_name, statement, detail) => {
    await other.query(statement)
    await expectOneLine(serve({ DATABASE_URL: other.url }), detail)
  })
})

it('tables of a later version that this one must not touch: ends at once, by the code of wrong use', async () => {
  const later = await createTestDatabase()
  try {
    await later.query(
      `insert into messenger.chat_provision_migrations values ('service', 99, '0099_later.sql', true)`,
    )
    const cli = serve({ DATABASE_URL: later.url })
    expect(await cli.exited).toBe(2)
    expect(cli.stderr()).toMatch(/^error: .*0099_later\.sql.* Run the newer version/m)
    // Nothing has worked on them before.
    const events = cli.log().map(({ event }) => event)
    expect(events).toContain('service can not go on')
    expect(events).not.toContain('outbox relay started')
    expect(events).not.toContain('retention done')
    expect(events).not.toContain('cycle started')
  } finally {
    await later.close()
    await later.drop()
  }
})

describe('the relay', () => {
  let other: TestDatabase
  beforeAll(async () => {
    other = await createTestDatabase()
    return async () => {
      await other.close()
      await other.drop()
    }
  })

  const readiness = async (cli: RunningCli) => {
    const { address } = await cli.logged('http listening')
    const response = await fetch(`${String(address)}/readyz`)
    return { status: response.status, text: await response.text() }
  }

  it('may not use its table: readiness says so, also once events have gone out', async () => {
    const cli = serve({ DATABASE_URL: other.url })
    await waitFor('readiness', async () => (await readiness(cli)).status === 200)
    await other.query('revoke all on messenger.outbox_events from chat_provision_retry')
    await cli.logged('outbox waits for the database')
    const reason = '"outbox: The role that DATABASE_URL names may not do this'
    await waitFor('the reason', async () => (await readiness(cli)).text.includes(reason))
    expect((await readiness(cli)).status).toBe(503)
    await other.query(
      'grant select, insert, update, delete on messenger.outbox_events to chat_provision_retry',
    )
    await waitFor('readiness again', async () => (await readiness(cli)).status === 200)
  })

  it('can not log in at LOCK_DATABASE_URL: readiness names that option', async () => {
    const lockUrl = without(other.url, (url) => (url.password = 'wrong'))
    const cli = serve({ DATABASE_URL: other.url, LOCK_DATABASE_URL: lockUrl })
    await cli.logged('outbox waits for the database')
    const reason = /"outbox: PostgreSQL at \S+ can't be used[^"]*LOCK_DATABASE_URL/
    await waitFor('the reason', async () => reason.test((await readiness(cli)).text))
  })
})

it('a broker that is away is one line too', async () => {
  const cli = serve({
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'kafka',
    KAFKA_BROKERS: '127.0.0.1:1',
    INTAKE_ENABLED: 'true',
  })
  const [relay, intake] = ['outbox waits for kafka', 'intake waits for kafka']
  await Promise.all([cli.logged(relay), cli.logged(intake)])
  const cycles = () => cli.log().filter(({ event }) => event === 'cycle completed').length
  const before = cycles()
  await waitFor('many cycles beside it', () => cycles() > before + 10)
  expect(new Set(warnings(cli).map(({ event }) => event))).toEqual(new Set([relay, intake]))
  expect(warnings(cli)).toHaveLength(2)
})

it('a port in use: ends at once, not after the grace period', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  try {
    const cli = serve({
      DATABASE_URL: database().url,
      HTTP_PORT: String(port),
      SHUTDOWN_GRACE: '10m',
    })
    expect(await cli.exited).toBe(2)
    expect(cli.stderr()).toContain('another program listens there')
  } finally {
    await new Promise((resolve) => void other.close(resolve))
  }
})
