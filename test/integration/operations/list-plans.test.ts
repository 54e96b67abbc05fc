/** What a page of provisions costs the database: as many rows as it shows, behind 100,000 of them. */

import { beforeAll, expect, it } from 'vitest'
import { listProvisions } from '../../../src/operations/list-provisions.js'
import { readProvisionFilter } from '../../../src/operations/provision-filter.js'
import { explain } from '../../support/statement-plan.js'
import { useTestDatabase } from '../../support/test-database.js'

const database = useTestDatabase()
const limit = 50
/** Each row may lie on a page of its own; a look-up walks a few of the index. */
const pagesOfPage = limit + 20

beforeAll(async () => {
  await database().query(
    `insert into messenger.deal_chat_provisions
       (id, deal_id, chat_id, title, status, attempts, created_at, updated_at)
     select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Deal ' || n,
       case n % 10 when 0 then 'Failed' else 'Ready' end, n % 13,
       now() - n * interval '1 second', now() - (n * 7919 % 100000) * interval '1 second'
     from generate_series(1, 100000) n`,
  )
  await database().query('vacuum (analyze) messenger.deal_chat_provisions')
})

const list = (cursor?: string, status?: string) => {
  const query = { filter: readProvisionFilter({ status }), maxAttempts: 10, limit, cursor }
  return explain(database(), (db) => listProvisions(db, query))
}

async function cursorAfter(pages: number): Promise<string> {
  const query = { filter: readProvisionFilter({}), maxAttempts: 10, limit: limit * pages }
  return (await listProvisions(database().admin, query)).nextCursor ?? ''
}

it('the first page reads no more than it shows', async () => {
  const { indexes, pages } = await list()
  expect(indexes).toEqual(['ix_dcp_changed'])
  expect(pages).toBeLessThan(pagesOfPage)
})

it('a late page costs as little as the first', async () => {
  const { indexes, pages } = await list(await cursorAfter(1_000))
  expect(indexes).toEqual(['ix_dcp_changed'])
  expect(pages).toBeLessThan(pagesOfPage)
})

it('narrowed to one in ten it reads ten times as many, not all', async () => {
  const { pages } = await list(undefined, 'Failed')
  expect(pages).toBeLessThan(10 * pagesOfPage)
})
