/** The tools that put a fault between a program and its server: a TCP proxy and a pooler. */

import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { describeWithPgbouncer, startPgbouncer, type Pgbouncer } from '../support/pgbouncer.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()

describe('a TCP proxy', () => {
  let proxy: TcpProxy
  const clients: pg.Client[] = []

  beforeAll(async () => {
    proxy = await startTcpProxy({ target: inject('postgres').port })
  })
  afterEach(async () => {
    proxy.resume()
    await Promise.all(clients.splice(0).map((client) => client.end()))
  })
  afterAll(() => proxy.stop())

  async function connect(): Promise<pg.Client> {
    const url = new URL(database().url)
    url.port = String(proxy.port)
    const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 1_000 })
    client.on('error', () => undefined)
    await client.connect()
    clients.push(client)
    return client
  }

  async function statementsRun(text: string): Promise<number> {
    const rows = await database().query(
      `select from pg_stat_activity where datname = current_database()
        and pid <> pg_backend_pid() and state = 'idle' and query = $1`,
      [text],
    )
    return rows.length
  }

  test('withholds the answers to what the server has done, until it resumes', async () => {
    const client = await connect()
    proxy.pauseResponses()
    let answered = false
    const answer = client.query('select 1 as withheld').then((result) => {
      answered = true
      return result
    })
    await waitFor(
      'the server to be done',
      async () => (await statementsRun('select 1 as withheld')) === 1,
    )
    expect(answered).toBe(false)
    proxy.resume()
    expect((await answer).rows).toEqual([{ withheld: 1 }])
  })

  test('withholds requests, so that the server does nothing', async () => {
    const client = await connect()
    proxy.pauseRequests()
    const answer = client.query('select 2 as unsent')
    expect(await statementsRun('select 2 as unsent')).toBe(0)
    proxy.resume()
    expect((await answer).rows).toEqual([{ unsent: 2 }])
  })

  test('slows answers down', async () => {
    const client = await connect()
    proxy.delayResponses(200)
    const before = performance.now()
    await client.query('select 3')
    expect(performance.now() - before).toBeGreaterThanOrEqual(195)
  })

  test('drops connections but takes new ones; cut, it takes none', async () => {
    const dropped = await connect()
    proxy.dropConnections()
    await expect(dropped.query('select 4')).rejects.toThrow(/terminated|not queryable/)
    await connect()
    proxy.cut()
    await expect(connect()).rejects.toThrow(/terminated|ECONNRESET/)
    proxy.resume()
    await connect()
    expect(proxy.connections()).toBe(1)
  })
})

describeWithPgbouncer('pgbouncer', () => {
  let pooler: Pgbouncer

  beforeAll(async () => {
    pooler = await startPgbouncer({ poolSize: 1 })
  })
  afterAll(() => pooler.stop())

  test('lets two clients share one session, transaction by transaction', async () => {
    const connections = [0, 1].map(
      () => new pg.Client({ connectionString: pooler.url(database().name) }),
    )
    const pids = new Set<number>()
    for (const client of connections) {
      await client.connect()
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      pids.add(rows[0]?.pid ?? 0)
    }
    await Promise.all(connections.map((client) => client.end()))
    expect(pids.size).toBe(1)
  })
})
