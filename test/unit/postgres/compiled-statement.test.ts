/** A statement that is compiled once: what is sent each time. */

import { Kysely, PostgresDialect, sql } from 'kysely'
import { expect, it } from 'vitest'
import { compileOnce } from '../../../src/postgres/compiled-statement.js'
import type { Database } from '../../../src/postgres/schema.js'

interface Sent {
  readonly text: string
  readonly parameters: readonly unknown[]
}

/** Answers each statement with one row, its own number. */
function watchedDatabase(): { db: Kysely<Database>; sent: Sent[] } {
  const sent: Sent[] = []
  const query = (text: string, parameters: readonly unknown[]) => {
    sent.push({ text, parameters })
    return Promise.resolve({ command: 'SELECT', rowCount: 1, rows: [{ n: sent.length }] })
  }
  const connect = () => Promise.resolve({ query, release: () => undefined })
  const pool = { connect, end: () => Promise.resolve() }
  // kysely's type also has the cursor form of query, which isn't used.
  const dialect = new PostgresDialect({ pool: pool as never })
  return { db: new Kysely<Database>({ dialect }), sent }
}

it('is built at the first run, and sent with the values of each: one parameter for all places of one', async () => {
  let built = 0
  const run = compileOnce<{ id: string; roles: readonly string[]; note: string | null }, object>(
    (value) => {
      built += 1
      return sql`select ${value('id')}, ${7}, ${value('roles')}, ${value('note')}, ${value('id')}, ${8}`
    },
  )
  const { db, sent } = watchedDatabase()
  expect(await run(db, { id: 'a', roles: ['x'], note: null })).toEqual([{ n: 1 }])
  const builtBefore = built
  expect(await run(db, { id: 'b', roles: [], note: 'n' })).toEqual([{ n: 2 }])
  const text = 'select $3, $1, $4, $5, $3, $2'
  expect(sent).toEqual([
    { text, parameters: [7, 8, 'a', ['x'], null] },
    { text, parameters: [7, 8, 'b', [], 'n'] },
  ])
  expect(built).toBe(builtBefore)
})
