/** Is the database in order for this version? Asked at the start of every command and by /readyz. */

import { sql, type Kysely } from 'kysely'
import { AppError } from '../errors.js'
import { appliedMigrations, readMigrations, tooNew } from './migrator.js'
import type { Database } from './schema.js'

const referenceTables = ['chats', 'participants', 'chat_events'] as const

/**
 * @throws AppError SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_TOO_NEW or REFERENCE_TABLE_MISSING;
 * each message names the command that mends it.
 */
export async function checkSchema(db: Kysely<Database>): Promise<void> {
  await checkServiceSchema(db)
  await checkReferenceTables(db)
}

/** @throws AppError SCHEMA_MISSING, SCHEMA_OUTDATED or SCHEMA_TOO_NEW */
export async function checkServiceSchema(db: Kysely<Database>): Promise<void> {
  const known = await readMigrations('service')
  const applied = (await appliedMigrations(db)).filter((row) => row.set === 'service')
  if (applied.length === 0) {
    throw new AppError(
      'SCHEMA_MISSING',
      'The tables of chat-provision-retry are not there. Run: chat-provision-retry migrate up',
    )
  }
  const newest = known.length
  const unknownBreaking = applied.find((row) => row.breaking && row.version > newest)
  if (unknownBreaking !== undefined) throw tooNew(unknownBreaking.name)
  const missing = known.find((file) => !applied.some((row) => row.version === file.version))
  if (missing !== undefined) {
    throw new AppError(
      'SCHEMA_OUTDATED',
      `The migration ${missing.name} is not applied. Run: chat-provision-retry migrate up`,
    )
  }
}

/** @throws AppError REFERENCE_TABLE_MISSING */
export async function checkReferenceTables(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${[...referenceTables]}::text[]) as name
    where to_regclass('messenger.' || name) is null
  `.execute(db)
  if (rows.length === 0) return
  const names = rows.map((row) => `messenger.${row.name}`).join(', ')
  throw new AppError(
    'REFERENCE_TABLE_MISSING',
    `The messenger's own ${rows.length === 1 ? 'table' : 'tables'} ${names} can't be found. ` +
      'Connect to the database of the messenger, or, for a new installation, run: ' +
      'chat-provision-retry migrate up --reference',
  )
}

/** @throws AppError DATABASE_UNAVAILABLE on a standby, or where the server or the role allows reading only */
export async function checkWritable(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ fixed: boolean }>`
    select current_setting('transaction_read_only')::boolean as fixed
  `.execute(db)
  if (rows[0]?.fixed === false) return
  throw new AppError(
    'DATABASE_UNAVAILABLE',
    'The database is read-only; DATABASE_URL must name the primary, by a role that may write.',
  )
}
