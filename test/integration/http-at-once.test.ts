/** Changes and lists of the API while others are at work: each row once, and what was foretold is done. */

import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { emptyTables, useApi } from './http-api-fixtures.js'

const database = useTestDatabase()
const maxAttempts = 10

const api = useApi(database)
beforeEach(() => emptyTables(database()))

it('the same change, sent twenty times at once, is made once to each row', async () => {
  const deals = await Promise.all(
    Array.from({ length: 30 }, () => seedDeal(database().admin, { attempts: maxAttempts })),
  )
  const body = { dealIds: deals.map(({ dealId }) => dealId), reason: 'mended', by: 'anna' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api().post('/provisions/requeue', body)),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  for (const { dealId } of deals) {
    expect(await dealState(database().admin, dealId)).toMatchObject({
      attempts: 0,
      events: ['Provisioning'],
    })
  }
})

it('a dry run foretells what is then done, refusals and all', async () => {
  const poison = await seedDeal(database().admin, { attempts: maxAttempts })
  const waiting = await seedDeal(database().admin, { attempts: 3 })
  const ready = await seedReady()
  const dealIds = [poison, waiting, ready].map(({ dealId }) => dealId.toUpperCase())
  const targets = { dealIds: [...dealIds, randomUUID(), dealIds[0]] }
  const foretold = await api().post('/provisions/requeue', { ...targets, dryRun: true })
  const done = await api().post('/provisions/requeue', { ...targets, reason: 'x' })
  expect(foretold.body).toMatchObject({ affected: 2, dryRun: true, auditId: null })
  const { auditId } = done.body
  expect(auditId).not.toBeNull()
  expect({ ...foretold.body, dryRun: false, auditId }).toEqual(done.body)
})

it('a list read page by page holds each row that stays, once, while others come and go', async () => {
  const stay = await Promise.all(
    Array.from({ length: 40 }, () => seedDeal(database().admin, { attempts: maxAttempts })),
  )
  const go = await Promise.all(
    Array.from({ length: 10 }, () => seedDeal(database().admin, { attempts: maxAttempts })),
  )
  const seen: unknown[] = []
  let next: unknown = ''
  while (typeof next === 'string') {
    const { body } = await api().ask(`/provisions?limit=7${next && `&cursor=${next}`}`)
    seen.push(...(body.items ?? []).map(({ dealId }) => dealId))
    next = body['nextCursor']
    await seedDeal(database().admin, { attempts: maxAttempts })
    const gone = go.pop()
    const remove = 'delete from messenger.deal_chat_provisions where deal_id = $1'
    if (gone !== undefined) await database().query(remove, [gone.dealId])
  }
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen).toEqual(expect.arrayContaining(stay.map(({ dealId }) => dealId)))
})

/** A deal whose chat is there. */
async function seedReady(): Promise<{ readonly dealId: string }> {
  const { dealId } = await seedDeal(database().admin)
  await database().query(
    `with chat as (insert into messenger.chats (id, kind, status, deal_id, title)
       values (gen_random_uuid(), 'Deal', 'Active', $1, 'a chat') returning id)
     update messenger.deal_chat_provisions set status = 'Ready', chat_id = chat.id
     from chat where deal_chat_provisions.deal_id = $1`,
    [dealId],
  )
  return { dealId }
}
