/** Arrays as PostgreSQL reads them: whatever a text holds comes back as it was. */

import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { arrayLiteral } from '../../../../src/chokaq/storage/postgres/array-literal.js'
import { usePostgresStorage } from './storages.js'

const postgres = usePostgresStorage()

test('any texts come back as they were', async () => {
  const storable = fc
    .string({ unit: 'binary' })
    .filter((text) => !text.includes('\0') && text.isWellFormed())
  const special = fc.constantFrom('', 'NULL', 'null', '{}', ',', '"', '\\', '\\"', ' ', '\n', "'")
  const texts = fc.array(fc.option(fc.oneof(special, storable)), { maxLength: 50 })
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      const { rows } = await sql<{ values: (string | null)[] }>`
        select ${arrayLiteral(values)}::text[] as values
      `.execute(postgres().db)
      expect(rows).toEqual([{ values }])
    }),
    { numRuns: 50 },
  )
})

test('numbers, truths and nothing come back as they were', async () => {
  const { rows } = await sql`
    select ${arrayLiteral([0, -1.5, 1e21, 1e-7, null])}::float8[] as numbers,
      ${arrayLiteral([true, false, null])}::boolean[] as truths, ${arrayLiteral([])}::text[] as nothing
  `.execute(postgres().db)
  expect(rows).toEqual([
    { numbers: [0, -1.5, 1e21, 1e-7, null], truths: [true, false, null], nothing: [] },
  ])
})
