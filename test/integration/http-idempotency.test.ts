/** Changes sent again with the same Idempotency-Key: carried out once, answered alike. */

import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { Rival } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { emptyTables, seedEvent, useApi } from './http-api-fixtures.js'

const database = useTestDatabase()
const api = useApi(database)
beforeEach(() => emptyTables(database()))

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })
const reason = 'a test'

async function count(table: string): Promise<number> {
  const [row] = await database().query<{ n: number }>(`select count(*)::int as n from ${table}`)
  return row?.n ?? 0
}

describe('the same key and body', () => {
  it('a filter makes one job, whose id both are told', async () => {
    const body = { filter: { poison: true }, reason }
    const key = withKey(randomUUID())
    const first = await api().post('/provisions/reemit', body, key)
    const second = await api().post('/provisions/reemit', body, key)
    expect(first.status).toBe(202)
    expect([second.status, second.body]).toEqual([first.status, first.body])
    // Without a key each is an order of its own.
    const other = await api().post('/provisions/reemit', body)
    expect(other.body['jobId']).not.toBe(first.body['jobId'])
  })

  it('given deals are told of once', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const body = { dealIds: [dealId], reason }
    const key = withKey('a key of my own')
    const first = await api().post('/provisions/reemit', body, key)
    const second = await api().post('/provisions/reemit', body, key)
    expect(first.body).toMatchObject({ affected: 1 })
    expect(second.body).toEqual(first.body)
    expect(await count('messenger.outbox_events')).toBe(1)
    await api().post('/provisions/reemit', body)
    expect(await count('messenger.outbox_events')).toBe(2)
  })

  it('an event is replayed once, also where it has been parked again since', async () => {
    const { dealId } = await seedDeal(database().admin)
    const eventId = await seedEvent(database(), dealId)
    const key = withKey(randomUUID())
    const first = await api().post(`/outbox/${eventId}/replay`, { reason }, key)
    await database().query('update messenger.outbox_events set parked_at = now()')
    const second = await api().post(`/outbox/${eventId}/replay`, { reason }, key)
    expect(first.status).toBe(200)
    expect(second.body).toEqual(first.body)
    expect(await count('messenger.outbox_events where parked_at is not null')).toBe(1)
  })

  it('a refusal is not kept: what stood in the way may be gone', async () => {
    const { dealId } = await seedDeal(database().admin)
    const eventId = await seedEvent(database(), dealId, 'published_at')
    const key = withKey(randomUUID())
    expect((await api().post(`/outbox/${eventId}/skip`, { reason }, key)).status).toBe(409)
    await database().query('update messenger.outbox_events set published_at = null')
    expect((await api().post(`/outbox/${eventId}/skip`, { reason }, key)).status).toBe(200)
  })
})

it('a filter whose outcome can not be kept has made no job, and makes one when sent again', async () => {
  const body = { filter: { poison: true }, reason }
  const key = withKey(randomUUID())
  await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
  await database().query(
    `create function messenger.keep_no_outcome() returns trigger language plpgsql as
       $$ begin raise exception 'no outcome is kept'; end $$`,
  )
  await database().query(
    `create trigger keep_no_outcome before update on messenger.operator_requests
     for each row when (new.outcome is not null) execute function messenger.keep_no_outcome()`,
  )
  try {
    expect((await api().post('/provisions/reemit', body, key)).status).toBeGreaterThanOrEqual(500)
  } finally {
    await database().query('drop function messenger.keep_no_outcome cascade')
  }
  expect(await count('chokaq.jobs_hot')).toBe(0)
  expect((await api().post('/provisions/reemit', body, key)).status).toBe(202)
  expect(await count('chokaq.jobs_hot')).toBe(1)
})

it('the same key with another body is refused, and nothing done', async () => {
  const { dealId } = await seedDeal(database().admin, { attempts: 10 })
  const key = withKey(randomUUID())
  await api().post('/provisions/reemit', { dealIds: [dealId], reason }, key)
  const other = await api().post('/provisions/reemit', { dealIds: [dealId], reason: 'other' }, key)
  expect(other.status).toBe(422)
  expect(other.body.detail).toContain('Idempotency-Key')
  expect(await count('messenger.outbox_events')).toBe(1)
  // Another path is another request.
  const elsewhere = { dealIds: [dealId], reason }
  expect((await api().post('/provisions/requeue', elsewhere, key)).status).toBe(200)
})

it('one that is under way is not begun again', async () => {
  const { dealId } = await seedDeal(database().admin, { attempts: 10 })
  const body = { dealIds: [dealId], reason }
  const key = withKey(randomUUID())
  const rival = await Rival.begin(database().adminUrl)
  await rival.lockDeal(dealId)
  const first = api().post('/provisions/requeue', body, key)
  await waitFor('the first', async () => (await count('messenger.operator_requests')) === 1)
  expect((await api().post('/provisions/requeue', body, key)).status).toBe(409)
  await rival.rollback()
  expect((await first).body).toMatchObject({ affected: 1 })
  expect((await api().post('/provisions/requeue', body, key)).body).toEqual((await first).body)
})

it('a key that is none is told', async () => {
  const body = { filter: { poison: true }, reason }
  expect((await api().post('/provisions/reemit', body, withKey('k'.repeat(256)))).status).toBe(400)
})
