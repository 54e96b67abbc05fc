/**
 * Applies the numbered SQL files of migrations/ in order, each in its own transaction.
 *
 * Two migrators at once are safe: each step takes a transaction-level advisory lock first, reads
 * what is applied under it, and applies only the next. A transaction-level lock also works behind
 * a transaction-pooling proxy. The record has a table name of its own, for the database is shared.
 */

import { readdir, readFile } from 'node:fs/promises'
import { sql, type Kysely, type Transaction } from 'kysely'
import { AppError } from '../errors.js'
import type { Database } from './schema.js'

const migrationsFolder = new URL('../../migrations/', import.meta.url)

/** 'service': what this product owns. 'reference': a layout of the messenger's own tables. */
export type MigrationSet = 'service' | 'reference'

export interface Migration {
  readonly set: MigrationSet
  readonly version: number
  readonly name: string
  /** True where an older program must not run on the result (`-- breaking` as the first line). */
  readonly breaking: boolean
  readonly sql: string
}

export interface AppliedMigration {
  readonly set: MigrationSet
  readonly version: number
  readonly name: string
  readonly breaking: boolean
  readonly appliedAt: Date
}

/** The files of one set, by number. */
export async function readMigrations(set: MigrationSet): Promise<Migration[]> {
  const folder = set === 'service' ? migrationsFolder : new URL('reference/', migrationsFolder)
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8')
      const version = Number(name.slice(0, 4))
      return { set, version, name, breaking: text.startsWith('-- breaking'), sql: text }
    }),
  )
}

/** What is recorded as applied; empty where the record itself does not exist yet. */
export async function appliedMigrations(db: Kysely<Database>): Promise<AppliedMigration[]> {
  const { rows } = await sql<{ present: boolean }>`
    select to_regclass('messenger.chat_provision_migrations') is not null as present
  `.execute(db)
  if (rows[0]?.present !== true) return []
  const applied = await db
    .selectFrom('messenger.chat_provision_migrations')
    .selectAll()
    .orderBy('migration_set', 'desc')
    .orderBy('version')
    .execute()
  return applied.map((row) => ({
    set: row.migration_set,
    version: row.version,
    name: row.name,
    breaking: row.breaking,
    appliedAt: row.applied_at,
  }))
}

/**
 * Brings the database up to the newest file of each set and returns what this call applied.
 *
 * @throws AppError SCHEMA_TOO_NEW when a newer program has made a breaking change.
 */
export async function migrateUp(
  db: Kysely<Database>,
  sets: readonly MigrationSet[],
): Promise<Migration[]> {
  const done: Migration[] = []
  for (const set of sets) {
    const known = await readMigrations(set)
    for (const migration of known) {
      if (await applyOnce(db, migration, known.length)) done.push(migration)
    }
  }
  return done
}

async function applyOnce(
  db: Kysely<Database>,
  migration: Migration,
  newestKnown: number,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('chat-provision-retry'), hashtext('migrate'))`.execute(
      trx,
    )
    await createRecord(trx)
    const applied = await trx
      .selectFrom('messenger.chat_provision_migrations')
      .select(['version', 'name', 'breaking'])
      .where('migration_set', '=', migration.set)
      .execute()
    const unknown = applied.find((row) => row.breaking && row.version > newestKnown)
    if (unknown !== undefined) throw tooNew(unknown.name)
    if (applied.some((row) => row.version === migration.version)) return false
    await sql.raw(migration.sql).execute(trx)
    await trx
      .insertInto('messenger.chat_provision_migrations')
      .values({
        migration_set: migration.set,
        version: migration.version,
        name: migration.name,
        breaking: migration.breaking,
      })
      .execute()
    return true
  })
}

async function createRecord(trx: Transaction<Database>): Promise<void> {
  // `if not exists` would ask for CREATE on the database even where the schema is there.
  const { rows } = await sql<{ present: boolean }>`
    select to_regnamespace('messenger') is not null as present
  `.execute(trx)
  if (rows[0]?.present !== true) await sql`create schema messenger`.execute(trx)
  await sql`
    create table if not exists messenger.chat_provision_migrations (
      migration_set varchar(16)  not null,
      version       integer      not null,
      name          text         not null,
      breaking      boolean      not null,
      applied_at    timestamptz  not null default clock_timestamp(),
      constraint pk_chat_provision_migrations primary key (migration_set, version)
    )
  `.execute(trx)
}

/** The refusal that an older program gives on a schema that a newer one broke for it. */
export function tooNew(name: string): AppError {
  return new AppError(
    'SCHEMA_TOO_NEW',
    `The database has the breaking migration ${name}, which this version does not know. ` +
      'Run the newer version of chat-provision-retry that made it.',
  )
}
