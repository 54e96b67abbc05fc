/** What the API shows: lists, single things, the overview, the settings. */

import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { emptyTables, readToken, seedEvent, useApi } from './http-api-fixtures.js'

const database = useTestDatabase()
const maxAttempts = 10

const api = useApi(database)
beforeEach(() => emptyTables(database()))

const poison = () => seedDeal(database().admin, { attempts: maxAttempts })

describe('lists', () => {
  it('go page by page over all, each row once', async () => {
    const deals = await Promise.all(Array.from({ length: 5 }, poison))
    const seen: unknown[] = []
    let cursor = ''
    for (let pages = 0; pages < 3; pages += 1) {
      const { status, body } = await api().ask(`/provisions?limit=2${cursor}`)
      expect(status).toBe(200)
      seen.push(...(body.items ?? []).map(({ dealId }) => dealId))
      cursor = `&cursor=${String(body['nextCursor'])}`
      expect(body['nextCursor'] === null).toBe(pages === 2)
    }
    expect(seen.toSorted()).toEqual(deals.map(({ dealId }) => dealId).toSorted())
  })

  it('know the filters of the command line', async () => {
    const { dealId } = await poison()
    await seedDeal(database().admin, { status: 'Provisioning' })
    const found = async (query: string) =>
      ((await api().ask(`/provisions?${query}`)).body.items ?? []).map((item) => item['dealId'])
    expect(await found('poison=true')).toEqual([dealId])
    expect(await found('status=Failed&olderThan=5m')).toEqual([dealId])
    expect(await found('status=Ready')).toEqual([])
  })

  it.each([
    ['/provisions?cursor=nonsense', /cursor is not one that the list of provisions gave/],
    ['/jobs?cursor=nonsense', /no cursor of this list/],
    ['/outbox?cursor=cHJvdmlzaW9ucw', /Begin without a cursor/],
    ['/runs?limit=0', /limit: /],
    ['/runs?limit=many', /limit: it is a whole number from 1 to 500/],
    ['/provisions?statsu=Failed', /Unrecognized key: "statsu"/],
    ['/provisions?status=Done', /one of Provisioning, Ready, Failed/],
    ['/provisions?tenant=7', /Not a tenant id: "7"/],
    ['/provisions?olderThan=soon', /a duration such as/],
    ['/provisions/7', /not a deal id: "7"\. It looks like/],
    ['/outbox/7', /not an event id/],
    ['/jobs/7', /not a job id/],
    ['/jobs/%zz', /is not a valid url component/],
    ['/audit?action=dance', /one of requeue/],
    ['/jobs?state=Asleep', /state: /],
    ['/series?window=1y', /window: /],
  ])('refuse %s with one line that helps', async (path, detail) => {
    const { status, body } = await api().ask(path)
    expect(status).toBe(400)
    expect(body.detail).toMatch(detail)
    expect(body.detail).not.toContain('\n')
  })

  it.each([
    ['/provisions', 'provisions 99999999999999999 ffffffff-ffff-ffff-ffff-ffffffffffff', 200],
    ['/provisions', 'provisions -99999999999999999 ffffffff-ffff-ffff-ffff-ffffffffffff', 200],
    ['/provisions', 'provisions -infinity ffffffff-ffff-ffff-ffff-ffffffffffff', 200],
    ['/runs', 'runs 99999999999999999 ffffffff-ffff-ffff-ffff-ffffffffffff', 200],
    ['/outbox', 'outbox 999999999999999999', 200],
    ['/audit', 'audit 9999999999999999999', 400],
    ['/jobs', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ ', 200],
    ['/jobs?place=archive', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ 999999999999999999', 200],
    ['/jobs?place=dlq', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ 99999999999999999999', 400],
  ])('bear forged cursors: %s %s', async (path, place, expected) => {
    const cursor = Buffer.from(place).toString('base64url')
    const { status } = await api().ask(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`)
    expect(status).toBe(expected)
  })

  it.each(['/outbox', '/jobs', '/jobs?place=dlq', '/runs', '/audit'])(
    'are empty pages where there is nothing: %s',
    async (path) => {
      const { status, body } = await api().ask(path)
      expect({ status, body }).toEqual({ status: 200, body: { items: [], nextCursor: null } })
    },
  )

  it('list the queues of the service before their first job, with nothing in them', async () => {
    const { items } = (await api().ask('/queues')).body
    expect(items).toMatchObject(
      ['default', 'maintenance', 'operations'].map((name) => ({ name, paused: false, due: 0 })),
    )
  })
})

describe('the series', () => {
  it('go back as far as is asked for, with the cycle that has run', async () => {
    await database().query(
      `insert into messenger.chat_provision_runs
         (id, as_of, finished_at, outcome, provisioned, host)
       values (gen_random_uuid(), now(), now(), 'completed', 4, 'here')`,
    )
    const { status, body } = await api().ask('/series?window=15m', { token: readToken })
    expect(status).toBe(200)
    expect(body).toMatchObject({ window: '15m', bucketSeconds: 15 })
    const { provisioned } = body['provisions'] as { provisioned: number[] }
    expect(provisioned).toHaveLength(60)
    expect(provisioned.reduce((a, b) => a + b, 0)).toBe(4)
  })
})

describe('one thing', () => {
  it('is shown with all that belongs to it', async () => {
    const { dealId } = await poison()
    const id = await seedEvent(database(), dealId)
    expect((await api().ask(`/provisions/${dealId.toUpperCase()}`)).body).toMatchObject({
      dealId,
      members: 3,
      events: [{ id, state: 'parked' }],
    })
    expect((await api().ask(`/outbox/${id}`)).body).toMatchObject({ id, dealId, topic: 't' })
  })

  it.each(['/provisions/', '/outbox/'])('that is not there is 404: %s', async (path) => {
    const { status, body } = await api().ask(path + randomUUID())
    expect(status).toBe(404)
    expect(body.detail).toMatch(/^There is no /)
  })

  it.each(['/provisions/', '/outbox/', '/jobs/'])(
    'whose id is as long as a URL may be is 400: %s',
    async (path) => {
      const { status } = await api().ask(path + 'ж'.repeat(1_500))
      expect(status).toBe(400)
    },
  )
})

describe('the overview', () => {
  it('counts what is not in order', async () => {
    await poison()
    await seedDeal(database().admin, { status: 'Provisioning', age: '6 minutes' })
    await seedDeal(database().admin, { age: '2 hours' })
    const body = await waitFor('a fresh look', async () => {
      const answer = await api().ask('/summary', { token: readToken })
      const { backlog } = answer.body['provisions'] as { backlog: number }
      return backlog === 3 && answer.body
    })
    expect(body).toMatchObject({
      isCurrent: true,
      provisions: { backlog: 3, failed: 2, stuck: 1, poison: 1 },
      outbox: { relay: 'kafka', backlog: 0, slotLagBytes: null },
    })
  })

  it('shows the options in force, and no secret', async () => {
    const { body, text } = await api().ask('/settings', { token: readToken })
    const setting = (name: string) => body.items?.find((item) => item['name'] === name)
    expect(setting('HTTP_PORT')).toMatchObject({ value: '0', isDefault: false })
    expect(setting('CHOKAQ_CONCURRENCY')).toMatchObject({ value: '10', isDefault: true })
    expect(setting('DECK_ADMIN_TOKEN')).toMatchObject({ value: '[redacted]', isSecret: true })
    expect(setting('DATABASE_URL')).toMatchObject({ value: '[redacted]' })
    expect(setting('KAFKA_SASL_PASSWORD')).toMatchObject({ value: null })
    expect(text).not.toContain('postgres://')
    expect(text).not.toContain(readToken)
  })
})

it('the document is the one that is kept in the repository', async () => {
  expect((await api().ask('/openapi.json', { token: readToken })).body).toEqual(
    api().document.content,
  )
})
