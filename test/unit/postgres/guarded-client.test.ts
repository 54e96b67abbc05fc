/** When a client may be used again, and when it must not. */

import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { expect, it } from 'vitest'
import { guardClient } from '../../../src/postgres/guarded-client.js'
import type { Database } from '../../../src/postgres/schema.js'

interface Sent {
  readonly text: string
  readonly callback: (error: Error | null, result?: object) => void
}

/** Answers each statement, refuses those that are named with the given code. */
function databaseThatRefuses(refused: Readonly<Record<string, string>>): {
  db: Kysely<Database>
  released: (Error | undefined)[]
} {
  const released: (Error | undefined)[] = []
  const client = {
    query: ({ text, callback }: Sent): void => {
      const code = refused[text]
      if (code === undefined) callback(null, { command: 'OTHER', rows: [] })
      else callback(Object.assign(new Error(`${text} refused`), { code }))
    },
  }
  const guarded = guardClient(client as unknown as pg.ClientBase, true, (error) =>
    released.push(error),
  )
  const pool = { connect: () => Promise.resolve(guarded), end: () => Promise.resolve() }
  return { db: new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }), released }
}

const failing = (db: Kysely<Database>): Promise<void> =>
  db.transaction().execute(() => Promise.reject(new Error('the work failed')))

it('is given back fit after work that failed and was rolled back', async () => {
  const { db, released } = databaseThatRefuses({})
  await expect(failing(db)).rejects.toThrow('the work failed')
  expect(released).toEqual([undefined])
})

it.each([
  ['whose rollback was refused: it may be in a transaction still', 'XX000', /could not be ended/],
  ['that met the end of its session', '57P01', /rollback refused/],
])('is not used again, one %s', async (_, code, reason) => {
  const { db, released } = databaseThatRefuses({ rollback: code })
  await expect(failing(db)).rejects.toThrow()
  expect(released).toEqual([
    expect.objectContaining({ message: expect.stringMatching(reason) as string }),
  ])
})
