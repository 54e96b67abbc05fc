/** `migrate up` and `migrate status`. Runs as the owner of schema messenger, not as the worker. */

import type { Environment } from '../config/read-options.js'
import {
  appliedMigrations,
  migrateUp as applyMigrations,
  readMigrations,
  type MigrationSet,
} from '../postgres/migrator.js'
import { printJson, printLine, printTable } from './output.js'
import { withDatabase } from './with-database.js'

export async function migrateUp(
  environment: Environment,
  options: { reference?: true; json?: true },
): Promise<void> {
  const sets: MigrationSet[] = options.reference ? ['service', 'reference'] : ['service']
  const applied = await withDatabase(environment, 'any', (db) => applyMigrations(db, sets))
  if (options.json)
    return printJson(applied.map(({ set, version, name }) => ({ set, version, name })))
  if (applied.length === 0) return printLine('Nothing to apply: the schema is up to date.')
  for (const { set, name } of applied) await printLine(`applied ${set} ${name}`)
}

export async function migrateStatus(
  environment: Environment,
  options: { json?: true },
): Promise<void> {
  const status = await withDatabase(environment, 'any', async (db) => {
    const applied = await appliedMigrations(db)
    const known = [...(await readMigrations('service')), ...(await readMigrations('reference'))]
    const unknown = applied.filter((row) => !known.some((file) => isSame(file, row)))
    return [...known, ...unknown].map(({ set, version, name, breaking }) => ({
      set,
      version,
      name,
      breaking,
      appliedAt: applied.find((row) => isSame({ set, version }, row))?.appliedAt ?? null,
    }))
  })
  if (options.json) return printJson(status)
  await printTable(
    ['set', 'name', 'applied'],
    status.map(({ set, name, appliedAt }) => [set, name, appliedAt]),
  )
}

interface Key {
  readonly set: MigrationSet
  readonly version: number
}

function isSame(a: Key, b: Key): boolean {
  return a.set === b.set && a.version === b.version
}
