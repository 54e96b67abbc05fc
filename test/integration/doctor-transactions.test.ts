/** What holds vacuum back, as `doctor` sees it: with the worker's own few rights, on a server with slots. */

import pg from 'pg'
import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../support/servers.js'
import { checkTransactions } from '../../src/doctor/checks/transactions.js'
import type { Verdict } from '../../src/doctor/finding.js'
import { createDatabase } from '../../src/postgres/connect.js'
import type { Database } from '../../src/postgres/schema.js'
import { databaseUrl, makeTemplate, workerLogin } from '../support/database-template.js'

let postgres: TestPostgres
let adminUrl: string
let admin: pg.Client
let worker: Kysely<Database>

beforeAll(async () => {
  postgres = await startTestPostgres({
    postgresFlags: ['-c', 'wal_level=logical', '-c', 'max_prepared_transactions=5'],
  })
  const template = await makeTemplate(postgres.url)
  const server = await connect(postgres.url)
  await server.query(`create database messenger template ${template}`)
  await server.end()
  adminUrl = databaseUrl(postgres.url, 'messenger')
  admin = await connect(adminUrl)
  const url = new URL(adminUrl)
  url.username = workerLogin.name
  url.password = workerLogin.password
  worker = createDatabase({
    connectionString: url.href,
    applicationName: 'doctor under test',
    max: 2,
    onConnectionLost: () => undefined,
  })
})

afterAll(async () => {
  await worker.destroy()
  await admin.end()
  await postgres.stop()
})

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'a long report' })
  await client.connect()
  return client
}

const look = (limits: { minutes: number; transactions: number }): Promise<Verdict> =>
  worker.transaction().execute((trx) => checkTransactions(trx, limits))

const never = 1_000_000_000

async function spendTransactions(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await admin.query('select pg_current_xact_id()')
}

it('nothing is open for long', async () => {
  expect(await look({ minutes: 15, transactions: never })).toMatchObject({ status: 'ok' })
})

it('a transaction of the same role is told by its minutes', async () => {
  await worker.connection().execute(async (db) => {
    await sql`begin isolation level repeatable read`.execute(db)
    await sql`select 1`.execute(db)
    const { status, found, mend } = await look({ minutes: 0, transactions: never })
    expect(status).toBe('warning')
    expect(found).toMatch(/^doctor under test \(pid \d+\) has a transaction open for 00:/)
    expect(mend).toContain('pg_terminate_backend')
    await sql`rollback`.execute(db)
  })
})

it('one of another role, whose age is hidden, by the transactions since', async () => {
  const report = await connect(adminUrl)
  await report.query('begin isolation level repeatable read')
  await report.query('select count(*) from messenger.outbox_events')
  await spendTransactions()
  const { status, found } = await look({ minutes: 15, transactions: 3 })
  expect(status).toBe('warning')
  expect(found).toMatch(/^a long report \(pid \d+\) has .* open since \d+ transactions$/)
  await report.end()
})

it('a prepared transaction that nobody ends', async () => {
  await admin.query('begin')
  await admin.query('select pg_current_xact_id()')
  await admin.query("prepare transaction 'left by a batch'")
  expect(await look({ minutes: 0, transactions: never })).toMatchObject({
    status: 'warning',
    found: 'the prepared transaction left by a batch is left open',
  })
  await admin.query("rollback prepared 'left by a batch'")
})

it('a replication slot that nobody reads', async () => {
  await admin.query("select pg_create_logical_replication_slot('forgotten', 'pgoutput')")
  await spendTransactions()
  const { status, found } = await look({ minutes: 15, transactions: 3 })
  expect(status).toBe('warning')
  expect(found).toContain('the replication slot forgotten')
  await admin.query("select pg_drop_replication_slot('forgotten')")
})
