/** What a relay's session sends to the database, overheard on its way. */

import pg from 'pg'
import { vi } from 'vitest'
import type { TestRelay } from './relay-fixtures.js'

// Looks on: every call goes through to the server.
const query = vi.spyOn(pg.Client.prototype, 'query')

/** What pg's types leave out. */
interface Connected {
  readonly connectionParameters: { readonly application_name: string }
}

/** Statements of the relay's session since the last call of `forgetStatements`, or since the start. */
export function statementsOf(relay: TestRelay): string[] {
  return query.mock.calls.flatMap(([statement], index) => {
    const client = query.mock.contexts[index] as Connected
    const own = client.connectionParameters.application_name === relay.options.applicationName
    return own ? [textOf(statement)] : []
  })
}

/** A prepared one is given with its name. */
function textOf(statement: string | pg.QueryConfig): string {
  return typeof statement === 'string' ? statement : statement.text
}

export function forgetStatements(): void {
  query.mockClear()
}
