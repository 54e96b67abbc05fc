/** `migrate up` by an owner with no more rights than it needs: CREATE on the database for the first run alone. */

import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { sql, type Kysely } from 'kysely'
import { migrateUp, readMigrations } from '../../src/postgres/migrator.js'
import type { Database } from '../../src/postgres/schema.js'
import { connectAdmin } from '../support/database-template.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'

let database: TestDatabase
let owner: Kysely<Database>
let role: string

beforeEach(async () => {
  database = await createTestDatabase({ empty: true })
  role = `owner_${database.name}`
  await database.query(`create role ${role} login password 'owner'`)
  const url = new URL(database.adminUrl)
  url.username = role
  url.password = 'owner'
  owner = connectAdmin(url.href)
})

afterEach(async () => {
  await owner.destroy()
  await database.close()
  await database.drop()
  // Roles are the server's: only after all that they own is gone can they go.
  const server = connectAdmin(inject('postgres').adminUrl)
  await sql`drop role ${sql.id(role)}`.execute(server)
  await server.destroy()
})

async function mayCreate(may: boolean): Promise<void> {
  await database.query(
    may
      ? `grant create on database ${database.name} to ${role}`
      : `revoke create on database ${database.name} from ${role}`,
  )
}

test('makes both schemas where it may; afterwards it needs the right no more', async () => {
  await mayCreate(true)
  const files = await readMigrations('service')
  expect(await migrateUp(owner, ['service'])).toHaveLength(files.length)
  await mayCreate(false)
  expect(await migrateUp(owner, ['service'])).toEqual([])
  const reference = await readMigrations('reference')
  expect(await migrateUp(owner, ['reference'])).toHaveLength(reference.length)
})

test('an upgrade needs no right on the database', async () => {
  await mayCreate(true)
  await migrateUp(owner, ['service'])
  await mayCreate(false)
  // As the release before it left the database: this migration only replaces a function.
  const name = '0009_chokaq_claim_walks_once.sql'
  await database.query('delete from messenger.chat_provision_migrations where name = $1', [name])
  expect(await migrateUp(owner, ['service'])).toMatchObject([{ name }])
})

test('the first run without the right is refused, even where schema messenger is there', async () => {
  await database.query(`create schema messenger authorization ${role}`)
  await expect(migrateUp(owner, ['service'])).rejects.toMatchObject({
    code: '42501',
    message: expect.stringContaining(`permission denied for database ${database.name}`) as string,
  })
})
