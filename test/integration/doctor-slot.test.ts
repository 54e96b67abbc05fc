/**
 * The outbox's replication slot on a server of its own, without Debezium: what `doctor` says of it from
 * its making to its loss, and the way back by nothing but what the runbook says.
 */

import { readFile } from 'node:fs/promises'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../support/servers.js'
import { examineAll } from '../../src/doctor/examination.js'
import type { Finding } from '../../src/doctor/finding.js'
import { migrateUp } from '../../src/postgres/migrator.js'
import type { Database } from '../../src/postgres/schema.js'
import { readDatabaseValues } from '../../src/telemetry/database-values.js'
import { testRetryOptions } from '../support/job.js'
import { connectAdmin } from '../support/database-template.js'
import { openRunbook } from '../support/runbook-shell.js'
import { waitFor } from '../support/wait-for.js'

const slot = 'pin_messenger_outbox'

let server: TestPostgres
let admin: Kysely<Database>
beforeAll(async () => {
  const settings = ['wal_level=logical', 'max_slot_wal_keep_size=1MB', 'max_wal_size=32MB']
  const flags = [...settings, 'fsync=off'].flatMap((setting) => ['-c', setting])
  server = await startTestPostgres({ postgresFlags: flags })
  admin = connectAdmin(server.url)
  await migrateUp(admin, ['service', 'reference'])
})
afterAll(async () => {
  await admin.destroy()
  await server.stop()
})

/** One by one, as psql does: a slot can't be made in a transaction that has written. */
async function run(statements: string): Promise<void> {
  for (const statement of statements.replaceAll(/^--.*$/gm, '').split(';')) {
    if (statement.trim() !== '') await sql.raw(statement).execute(admin)
  }
}

async function examineSlot(): Promise<Finding | undefined> {
  const findings = await examineAll({ DATABASE_URL: server.url, OUTBOX_RELAY: 'off' })
  return findings.find(({ check }) => check === 'replication slot')
}

const gauges = async () =>
  (await admin.transaction().execute((trx) => readDatabaseValues(trx, testRetryOptions, 'off')))
    .slot

interface Diagnosed {
  readonly slot_name: string
  readonly active: boolean
  readonly wal_status: string
}

/** As the runbook's own query has it. */
async function diagnose(): Promise<Diagnosed | undefined> {
  const runbook = await openRunbook('runbooks/outbox-slot.md')
  const [statement = ''] = runbook.statements('Slot lag grows')
  const { rows } = await sql.raw<Diagnosed>(statement).execute(admin)
  return rows[0]
}

/** Stands for Debezium: it reads, and says how far it has come. */
async function readSlot(): Promise<pg.Client> {
  const reader = new pg.Client({
    connectionString: `${server.url}?replication=database`,
    application_name: 'debezium',
  })
  reader.on('error', () => undefined)
  await reader.connect()
  const options = `proto_version '1', publication_names '${slot}'`
  const streaming = reader.query(`START_REPLICATION SLOT ${slot} LOGICAL 0/0 (${options})`)
  // It ends with the reader.
  streaming.catch(() => undefined)
  await waitFor('the slot to be read', async () => (await diagnose())?.active)
  return reader
}

it('is asked for while there is none', async () => {
  const finding = await examineSlot()
  expect(finding).toMatchObject({
    status: 'failed',
    mend: expect.stringMatching(/slot\.sql/) as string,
  })
  expect(await gauges()).toMatchObject({ count: 0, lagBytes: 0 })
})

it('is to be read once it is made, and in order while it is', async () => {
  await run(await readFile(new URL('../../deploy/connect/slot.sql', import.meta.url), 'utf8'))
  expect(await examineSlot()).toMatchObject({
    status: 'warning',
    found: expect.stringMatching(/^nobody reads pin_messenger_outbox, .* behind$/) as string,
  })
  const reader = await readSlot()
  expect(await examineSlot()).toMatchObject({
    status: 'ok',
    found: expect.stringMatching(/^pin_messenger_outbox is read, .* behind$/) as string,
  })
  await reader.end()
  await waitFor('nobody to read it', async () => (await diagnose())?.active === false)
})

it('is lost beyond the bound, and comes back by the runbook', async () => {
  const write = sql`select pg_logical_emit_message(false, 'filler', repeat('x', 4000000))`
  await waitFor('the loss', async () => {
    for (let n = 0; n < 5; n += 1) await write.execute(admin)
    await sql`select pg_switch_wal()`.execute(admin)
    await sql`checkpoint`.execute(admin)
    return (await diagnose())?.wal_status === 'lost'
  })
  expect(await examineSlot()).toMatchObject({
    status: 'failed',
    found: 'pin_messenger_outbox is lost: its WAL is gone',
    mend: 'runbooks/outbox-slot.md, Lost slot',
  })

  const { text } = await openRunbook('runbooks/outbox-slot.md')
  const lost = text.slice(text.indexOf('## Lost slot'))
  const steps = [...lost.matchAll(/`(select pg_(?:drop|create_logical)_replication_slot[^`]+)`/g)]
  expect(steps).toHaveLength(2)
  for (const [, statement = ''] of steps) await run(statement)
  const reader = await readSlot()
  expect(await examineSlot()).toMatchObject({ status: 'ok' })
  expect(await diagnose()).toMatchObject({ slot_name: slot, active: true, wal_status: 'reserved' })
  expect((await gauges())?.lagBytes).toBeLessThan(2 ** 20)
  await reader.end()
})
