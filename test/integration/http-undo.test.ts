/** Changes taken back through the API: one at once, many by a job, a conflict told as one. */

import { beforeEach, describe, expect, it } from 'vitest'
import { requeueProvisions } from '../../src/operations/requeue-provisions.js'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { emptyTables, readToken, seedEvent, useApi } from './http-api-fixtures.js'
import { anna, maxAttempts, useOperators } from './operations/operator-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)

const api = useApi(database)
beforeEach(() => emptyTables(database()))

const undo = (auditId: unknown, request = {}) =>
  api().post(`/audit/${String(auditId)}/undo`, { reason: 'wrong tenant', by: 'boris' }, request)

describe('an undo', () => {
  it('of a re-enqueue names its own line; a second one is a conflict', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: maxAttempts })
    const body = { dealIds: [dealId], reason: 'cause mended' }
    const { auditId } = (await api().post('/provisions/requeue', body)).body
    const answer = await undo(auditId)
    expect(answer).toMatchObject({ status: 200, body: { affected: 1, skipped: 0, refused: [] } })
    expect(await dealState(database().admin, dealId)).toMatchObject({
      attempts: maxAttempts,
      events: ['Provisioning', 'Failed'],
    })
    expect((await api().ask('/audit?action=undo')).body.items).toMatchObject([
      { id: answer.body['auditId'], undoes: auditId, actor: 'boris', reason: 'wrong tenant' },
    ])
    expect(await undo(auditId)).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_UNDONE', detail: /stays: boris has taken it back/ },
    })
  })

  it('of a skip, and of a pause', async () => {
    const id = await seedEvent(database())
    const skipped = await api().post(`/outbox/${id}/skip`, { reason: 'crm knows' })
    expect((await undo(skipped.body['auditId'])).status).toBe(200)
    expect((await api().ask(`/outbox/${id}`)).body).toMatchObject({ state: 'parked' })

    const paused = await api().ask('/queues/operations', {
      method: 'PATCH',
      body: { paused: true, reason: 'the database is moved' },
    })
    expect((await undo(paused.body['auditId'])).status).toBe(200)
    const { items } = (await api().ask('/queues')).body
    expect(items).toContainEqual(expect.objectContaining({ name: 'operations', paused: false }))
    expect(await undo(paused.body['auditId'])).toMatchObject({ status: 409 })
  })

  it('of very many is a durable job', async () => {
    const many = 501
    await database().query(
      `insert into messenger.deal_chat_provisions (id, deal_id, title, status, attempts, last_error)
       select gen_random_uuid(), gen_random_uuid(), 'x', 'Failed', $1, 'guard:NO_MEMBERS'
       from generate_series(1, $2)`,
      [maxAttempts, many],
    )
    const targets = { filter: { poison: true } }
    const { auditId, affected } = await requeueProvisions(newOperator(), { targets, order: anna })
    expect(affected).toBe(many)
    const { status, body } = await undo(auditId)
    expect({ status, body }).toMatchObject({ status: 202, body: { matched: many } })
    const path = `/jobs/${String(body['jobId'])}`
    await waitFor(
      'the job to succeed',
      async () => (await api().ask(path)).body['state'] === 'Succeeded',
      { timeoutMs: 60_000 },
    )
    const { checkpoint } = (await api().ask(path)).body
    expect(JSON.parse(String(checkpoint))).toMatchObject({ affected: many, refused: 0 })
    expect((await api().ask('/provisions?poison=true&limit=500')).body.items).toHaveLength(500)
  }, 90_000)

  it('is refused to readers, without a reason, and of no line', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: maxAttempts })
    const body = { dealIds: [dealId], reason: 'cause mended' }
    const { auditId } = (await api().post('/provisions/requeue', body)).body
    expect((await undo(auditId, { token: readToken })).status).toBe(403)
    expect((await api().post(`/audit/${String(auditId)}/undo`, {})).status).toBe(400)
    expect((await undo('999999999')).status).toBe(404)
    expect((await undo('x')).status).toBe(400)
    expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: 0 })
  })
})
