/** The migrations: run twice, run at once, refused where a newer program broke the schema. */

import { expect, test } from 'vitest'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()

test('the template is migrated', async () => {
  const rows = await database().query<{ n: number }>(
    'select count(*)::int as n from messenger.chat_provision_migrations',
  )
  expect(rows[0]?.n).toBeGreaterThan(1)
})
