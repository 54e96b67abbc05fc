/**
 * A statement whose text is made once and sent with other values each time. Where thousands of rows run
 * the same one, making it anew takes the process longer than sending it.
 */

import type { CompiledQuery } from 'kysely'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database } from './schema.js'

/** Stands in the statement where a value is to go: a parameter of the query, as any `${value}` in sql. */
export type ValueOf<V> = <K extends keyof V & string>(name: K) => RawBuilder<V[K]>

export type CompiledStatement<V, R> = (db: Kysely<Database>, values: V) => Promise<R[]>

class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** @param build called once, at the first run; a plain value in it stays the same for all runs */
export function compileOnce<V extends object, R>(
  build: (value: ValueOf<V>) => RawBuilder<R>,
): CompiledStatement<V, R> {
  let compiled: CompiledQuery | undefined
  return async (db, values) => {
    compiled ??= build((name) => sql`${new Place(name)}`).compile(db)
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Place ? values[parameter.name as keyof V] : parameter,
    )
    const { rows } = await db.executeQuery<R>({ ...compiled, parameters })
    return rows
  }
}
