/** A role that may not do what a command does: one clear line, no trace of the program. */

import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { createTestDatabase, useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()

it('`migrate up` as the worker: names the owner, exit 2', async () => {
  const empty = await createTestDatabase({ empty: true })
  const { exitCode, stdout, stderr } = await runCli(['migrate', 'up'], { DATABASE_URL: empty.url })
  await empty.close()
  await empty.drop()
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(
    /^error: .*permission denied for database.* owner of the schemas .*CREATE on the database.*\n$/,
  )
})

it.each(['run-once', 'provisions list'])('`%s` without grants: names the file', async (command) => {
  await database().query('revoke usage on schema messenger from chat_provision_retry')
  const { exitCode, stdout, stderr } = await runCli(command.split(' '), {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'off',
  })
  await database().query('grant usage on schema messenger to chat_provision_retry')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(
    /^error: .*permission denied for schema messenger.*grants\/worker\.sql.*\n$/,
  )
})
