/**
 * A statement whose text is made once and sent with other values each time. Where thousands of rows run
 * the same one, making it anew takes the process longer than sending it.
 */

import type { CompiledQuery } from 'kysely'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database } from './schema.js'

/**
 * Stands in the statement where a value is to go: one and the same parameter of the query wherever it
 * stands, for each costs both sides as it is written and read. All its places are of one type, then.
 */
export type ValueOf<V> = <K extends keyof V & string>(name: K) => RawBuilder<V[K]>

export type CompiledStatement<V, R> = (db: Kysely<Database>, values: V) => Promise<R[]>

/** @param build called at the first run alone; a plain value in it stays the same for all runs */
export function compileOnce<V extends object, R>(
  build: (value: ValueOf<V>) => RawBuilder<R>,
): CompiledStatement<V, R> {
  const names: (keyof V)[] = []
  const placeOf = (name: keyof V): number => {
    if (!names.includes(name)) names.push(name)
    return names.indexOf(name) + 1
  }
  /** The values' parameters behind the plain ones, which the compiler counts itself. */
  const compileBehind = (plain: number, db: Kysely<Database>): CompiledQuery =>
    build((name) => sql.raw(`$${String(plain + placeOf(name))}`)).compile(db)
  let compiled: CompiledQuery | undefined
  return async (db, values) => {
    compiled ??= compileBehind(compileBehind(0, db).parameters.length, db)
    const parameters = [...compiled.parameters, ...names.map((name) => values[name])]
    const { rows } = await db.executeQuery<R>({ ...compiled, parameters })
    return rows
  }
}
