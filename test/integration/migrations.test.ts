/** The migrations: run twice, run at once, and refused where a newer program broke the schema. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { appliedMigrations, migrateUp, readMigrations } from '../../src/postgres/migrator.js'
import { checkSchema } from '../../src/postgres/schema-check.js'
import type { Database } from '../../src/postgres/schema.js'
import { connectAdmin } from '../support/database-template.js'
import { createTestDatabase, useTestDatabase, type TestDatabase } from '../support/test-database.js'

const both = ['service', 'reference'] as const

describe('on an empty database', () => {
  let database: TestDatabase

  beforeEach(async () => {
    database = await createTestDatabase({ empty: true })
  })
  afterEach(async () => {
    await database.close()
    await database.drop()
  })

  async function recordNewer(breaking: boolean): Promise<void> {
    await database.admin
      .insertInto('messenger.chat_provision_migrations')
      .values({ migration_set: 'service', version: 9999, name: '9999_newer.sql', breaking })
      .execute()
  }

  test('applies every file once, in order; a second run applies nothing', async () => {
    const first = await migrateUp(database.admin, both)
    const files = (await Promise.all(both.map((set) => readMigrations(set)))).flat()
    expect(first.map((migration) => migration.name)).toEqual(files.map((file) => file.name))
    expect(await migrateUp(database.admin, both)).toEqual([])
    expect(await appliedMigrations(database.admin)).toHaveLength(files.length)
    await checkSchema(database.admin)
  })

  test("leaves the messenger's own tables alone unless it is asked for them", async () => {
    await migrateUp(database.admin, ['service'])
    await expect(checkSchema(database.admin)).rejects.toMatchObject({
      code: 'REFERENCE_TABLE_MISSING',
      message: expect.stringContaining('migrate up --reference') as string,
    })
  })

  test('two migrators at once apply each file once between them', async () => {
    const migrators: Kysely<Database>[] = [1, 2, 3].map(() => connectAdmin(database.adminUrl))
    try {
      const applied = await Promise.all(migrators.map((db) => migrateUp(db, both)))
      const files = (await Promise.all(both.map((set) => readMigrations(set)))).flat()
      const names = applied.flat().map((migration) => migration.name)
      expect(names.sort()).toEqual(files.map((file) => file.name).sort())
    } finally {
      await Promise.all(migrators.map((db) => db.destroy()))
    }
  })

  test('refuses a database that a newer program has broken for this one', async () => {
    await migrateUp(database.admin, both)
    await recordNewer(true)
    const refusal = {
      code: 'SCHEMA_TOO_NEW',
      exitCode: 2,
      message: expect.stringContaining('9999_newer.sql') as string,
    }
    await expect(migrateUp(database.admin, both)).rejects.toMatchObject(refusal)
    await expect(checkSchema(database.admin)).rejects.toMatchObject(refusal)
  })

  test('works on a database that a newer program has only added to', async () => {
    await migrateUp(database.admin, both)
    await recordNewer(false)
    expect(await migrateUp(database.admin, both)).toEqual([])
    await checkSchema(database.admin)
  })

  test('says what to run where the tables are missing or some are', async () => {
    const what = { message: expect.stringContaining('migrate up') as string }
    await expect(checkSchema(database.admin)).rejects.toMatchObject({
      ...what,
      code: 'SCHEMA_MISSING',
    })
    await migrateUp(database.admin, both)
    // Applied, but not the file that this program asks for.
    await database.query(
      'update messenger.chat_provision_migrations set version = 9998 where version = 1',
    )
    await expect(checkSchema(database.admin)).rejects.toMatchObject({
      ...what,
      code: 'SCHEMA_OUTDATED',
    })
  })
})

describe('the least-privilege role', () => {
  const migrated = useTestDatabase()

  async function asWorker(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: migrated().url })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }

  test('passes the check of the schema', async () => {
    const worker = connectAdmin(migrated().url)
    await checkSchema(worker)
    await worker.destroy()
  })

  test.each([
    ['create a table', 'create table messenger.mine (n int)'],
    ['create one elsewhere', 'create table public.mine (n int)'],
    ['drop a table', 'drop table messenger.outbox_events'],
    ['alter a table', 'alter table messenger.deal_chat_provisions add mine int'],
    ['truncate a table', 'truncate messenger.outbox_events'],
    ['delete a chat', 'delete from messenger.chats'],
    ['change a chat', `update messenger.chats set title = 'x'`],
    ['delete a participant', 'delete from messenger.participants'],
    ["change a participant's role", `update messenger.participants set role = 'x'`],
    ['delete a feed row', 'delete from messenger.chat_events'],
    ['delete an intention', 'delete from messenger.deal_chat_provisions'],
    ['rewrite the audit', `update messenger.chat_provision_audit set actor = 'x'`],
    ['rewrite the record of migrations', 'delete from messenger.chat_provision_migrations'],
  ])('may not %s', async (_what, statement) => {
    await expect(asWorker(statement)).rejects.toMatchObject({
      code: '42501',
    })
  })

  test('may change of a participant only when he left', async () => {
    await asWorker('update messenger.participants set left_at = null')
  })
})
