/** Retention where Debezium relays: by age, and only what every slot of the database has confirmed. */

import type { Kysely } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../../support/servers.js'
import { createConfirmedRetention } from '../../../src/outbox/confirmed-retention.js'
import { retentionBatchRows } from '../../../src/outbox/retention.js'
import { createDatabase } from '../../../src/postgres/connect.js'
import type { Database } from '../../../src/postgres/schema.js'
import { startCli } from '../../support/cli.js'
import { databaseUrl, makeTemplate, workerLogin } from '../../support/database-template.js'
import { waitFor } from '../../support/wait-for.js'
import { readSlot, type LogicalReader } from './logical-reader.js'
import { keptLog } from './relay-fixtures.js'

const slot = 'pin_messenger_outbox'
const sevenDaysMs = 7 * 86_400_000

let postgres: TestPostgres
let adminUrl: string
let workerUrl: string
let worker: Kysely<Database>
let admin: pg.Client
let reader: LogicalReader | undefined
let lines: Record<string, unknown>[]
let prune: () => Promise<void>

beforeAll(async () => {
  // A limit small enough to lose a slot in a test: a WAL segment is 16 MB.
  postgres = await startTestPostgres({
    postgresFlags: ['-c', 'wal_level=logical', '-c', 'max_slot_wal_keep_size=16MB'],
  })
  const template = await makeTemplate(postgres.url)
  const server = new pg.Client({ connectionString: postgres.url })
  await server.connect()
  await server.query(`create database messenger template ${template}`)
  await server.end()
  adminUrl = databaseUrl(postgres.url, 'messenger')
  const url = new URL(adminUrl)
  url.username = workerLogin.name
  url.password = workerLogin.password
  workerUrl = url.href
  admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query(`create publication ${slot} for table messenger.outbox_events
    with (publish = 'insert')`)
  worker = createDatabase({
    connectionString: workerUrl,
    applicationName: 'retention under test',
    max: 1,
    onConnectionLost: () => undefined,
  })
})

afterAll(async () => {
  await worker.destroy()
  await admin.end()
  await postgres.stop()
})

beforeEach(async () => {
  await admin.query('truncate messenger.outbox_events')
  const kept = keptLog()
  lines = kept.lines
  prune = createConfirmedRetention({ db: worker, retentionMs: sevenDaysMs, log: kept.log })
})

afterEach(async () => {
  await reader?.close()
  reader = undefined
  await waitFor('the slot to be free', async () => {
    const { rows } = await admin.query('select from pg_replication_slots where active')
    return rows.length === 0
  })
  await admin.query('select pg_drop_replication_slot(slot_name) from pg_replication_slots')
})

async function insert(count: number, age: string, more = ''): Promise<void> {
  await admin.query(
    `insert into messenger.outbox_events
       (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, occurred_at
        ${more === '' ? '' : `, ${more}`})
     select gen_random_uuid(), 'DealChatProvision', gen_random_uuid(), 'DealChatStatusChanged',
       'pin.messenger.deal-chat-status-changed.v1', 1, '{}', now() - $2::interval
       ${more === '' ? '' : ', now()'}
     from generate_series(1, $1)`,
    [count, age],
  )
}

async function readNow(): Promise<LogicalReader> {
  await admin.query(`select pg_create_logical_replication_slot('${slot}', 'pgoutput')`)
  return (reader = await readSlot(adminUrl, slot, slot))
}

/** As a connector that has read all there is. */
async function confirmAll(by: LogicalReader): Promise<void> {
  const { rows } = await admin.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn')
  const lsn = rows[0]?.lsn ?? ''
  by.confirm(lsn)
  await waitFor('the confirmation', async () => {
    const { rows } = await admin.query(
      'select from pg_replication_slots where confirmed_flush_lsn >= $1::pg_lsn',
      [lsn],
    )
    return rows.length === 1
  })
}

async function left(): Promise<number> {
  const { rows } = await admin.query('select from messenger.outbox_events')
  return rows.length
}

const reasons = (): unknown[] =>
  lines.filter((line) => line['event'] === 'outbox retention waits').map((line) => line['reason'])

test('deletes old events in batches, each once the slot has confirmed it', async () => {
  const connector = await readNow()
  await insert(retentionBatchRows + 5, '8 days')
  await insert(3, '6 days')
  await insert(2, '8 days', 'parked_at')
  await prune()
  await prune()
  expect(await left()).toBe(retentionBatchRows + 10)
  await confirmAll(connector)
  await prune()
  expect(await left()).toBe(10)
  // The rest was chosen just now, at a place that is not confirmed before the connector says so.
  await confirmAll(connector)
  await prune()
  expect(await left()).toBe(5)
  expect(reasons()).toEqual([])
})

test('an event that commits late, or backdated, is not deleted unread', async () => {
  const connector = await readNow()
  await insert(1, '8 days')
  await prune()
  await confirmAll(connector)
  await insert(1, '9 days')
  await prune()
  expect(await left()).toBe(1)
  await prune()
  expect(await left()).toBe(1)
})

test('without a slot nothing is deleted, which is said once', async () => {
  await insert(3, '8 days')
  for (let pass = 0; pass < 3; pass += 1) await prune()
  expect(await left()).toBe(3)
  expect(reasons()).toEqual(['there is no replication slot, so nothing relays the outbox'])
})

test('a slot that nobody reads, though it confirms, stands for a snapshot yet to be taken', async () => {
  await insert(3, '8 days')
  await admin.query(`select pg_create_logical_replication_slot('${slot}', 'pgoutput')`)
  await prune()
  await prune()
  expect(await left()).toBe(3)
  expect(reasons()).toEqual([`nobody reads replication slot ${slot}`])
})

test('a lost slot stops all deleting', async () => {
  await admin.query(`select pg_create_logical_replication_slot('${slot}', 'pgoutput')`)
  await insert(3, '8 days')
  await waitFor('the slot to be lost', async () => {
    await admin.query(`select pg_logical_emit_message(false, 'filler', repeat('x', 8000000))`)
    await admin.query('select pg_switch_wal()')
    await admin.query('checkpoint')
    const { rows } = await admin.query(`select from pg_replication_slots where wal_status = 'lost'`)
    return rows.length === 1
  })
  await prune()
  expect(await left()).toBe(3)
  expect(reasons()).toEqual([`replication slot ${slot} is lost`])
})

test('serve prunes so with OUTBOX_RELAY=off', async () => {
  await insert(2, '8 days')
  const cli = startCli(['serve'], { DATABASE_URL: workerUrl, OUTBOX_RELAY: 'off', HTTP_PORT: '0' })
  const { reason } = await cli.logged('outbox retention waits')
  cli.child.kill('SIGTERM')
  expect(await cli.exited).toBe(0)
  expect(reason).toBe('there is no replication slot, so nothing relays the outbox')
  expect(await left()).toBe(2)
})
