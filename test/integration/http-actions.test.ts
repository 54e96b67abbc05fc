/** What operators do through the API, at once and as jobs, each change on record. */

import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { emptyTables, seedEvent, useApi } from './http-api-fixtures.js'
import { auditLines } from './operations/operator-fixtures.js'

const database = useTestDatabase()
const maxAttempts = 10

const api = useApi(database)
beforeEach(() => emptyTables(database()))

const poison = () => seedDeal(database().admin, { attempts: maxAttempts })

describe('actions on given deals', () => {
  it('re-enqueue at once, on record, and refuse Ready ones', async () => {
    const { dealId } = await poison()
    const missing = randomUUID()
    const { status, body } = await api().post('/provisions/requeue', {
      dealIds: [dealId, missing],
      reason: 'cause mended',
      by: 'anna',
    })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        affected: 1,
        skipped: 0,
        refused: [{ dealId: missing, why: 'there is no provision for this deal' }],
        dryRun: false,
        auditId: expect.any(String) as unknown,
      },
    })
    expect(await dealState(database().admin, dealId)).toMatchObject({
      attempts: 0,
      events: ['Provisioning'],
    })
    expect((await api().ask(`/audit?dealId=${dealId}`)).body.items).toMatchObject([
      { actor: 'anna', action: 'requeue', reason: 'cause mended', dealId },
    ])
  })

  it('put the token on record where nobody is named', async () => {
    const { dealId } = await poison()
    await api().post('/provisions/reemit', { dealIds: [dealId], reason: 'crm lost it' })
    expect(await auditLines(database())).toMatchObject([{ actor: 'api:admin', action: 'reemit' }])
  })

  it('change nothing on a dry run, which needs no reason', async () => {
    const { dealId } = await poison()
    const { body } = await api().post('/provisions/requeue', { dealIds: [dealId], dryRun: true })
    expect(body).toMatchObject({ affected: 1, dryRun: true })
    expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: maxAttempts })
    expect(await auditLines(database())).toEqual([])
  })

  it('reconcile: report, then mend', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: maxAttempts, age: '1 hour' })
    const report = await api().post('/provisions/reconcile', { dealIds: [dealId], dryRun: true })
    expect(report.body).toMatchObject({
      affected: 0,
      found: 1,
      findings: [{ finding: 'FAILED_EVENT_MISSING', outcome: 'found' }],
    })
    const mended = await api().post('/provisions/reconcile', { dealIds: [dealId], reason: 'audit' })
    expect(mended.body).toMatchObject({ affected: 1, findings: [{ outcome: 'mended' }] })
    expect(await dealState(database().admin, dealId)).toMatchObject({ events: ['Failed'] })
  })

  it('over their cap are refused with the count', async () => {
    const dealIds = Array.from({ length: 12_345 }, () => randomUUID())
    const { status, body } = await api().post('/provisions/requeue', { dealIds, reason: 'x' })
    expect(status).toBe(422)
    expect(body.detail).toMatch(/^These are 12345 deals, and at most 500/)
  })
})

describe('actions on a filter', () => {
  it('become a job, which does them', async () => {
    const deals = [await poison(), await poison()]
    const { status, body } = await api().post('/provisions/requeue', {
      filter: { poison: true },
      reason: 'cause mended',
      by: 'anna',
    })
    expect(status).toBe(202)
    expect(body).toMatchObject({ matched: 2 })
    const jobId = String(body['jobId'])
    await waitFor('the job to be done', async () => {
      const { body: job } = await api().ask(`/jobs/${jobId}`)
      return job['state'] === 'Succeeded'
    })
    for (const { dealId } of deals) {
      expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: 0 })
    }
    expect((await api().ask('/audit?actor=anna')).body.items).toHaveLength(3)
    expect((await api().ask('/jobs?place=archive')).body.items).toMatchObject([
      { id: jobId, createdBy: 'anna', queue: 'operations' },
    ])
  })

  it('are counted on a dry run', async () => {
    await poison()
    const filter = { status: 'failed' }
    const { status, body } = await api().post('/provisions/reemit', { filter, dryRun: true })
    expect({ status, affected: body['affected'] }).toEqual({ status: 200, affected: 1 })
    expect((await api().ask('/jobs')).body.items).toEqual([])
  })

  it.each([
    [{ reason: 'x' }, /Give either dealIds or filter/],
    [{ reason: 'x', filter: {} }, /An empty filter means every deal/],
    [{ reason: 'x', filter: { poison: false } }, /An empty filter means every deal/],
    [{ reason: 'x', filter: { poison: true }, dealIds: [randomUUID()] }, /not both/],
    [{ filter: { poison: true } }, /"reason" must say why/],
    [{ dealIds: [randomUUID()], reason: ' \t ' }, /reason: say why/],
    [{ dealIds: [randomUUID()], reason: 'a\u0000b' }, /reason: say why/],
    [{ dealIds: ['x'], reason: 'x' }, /dealIds\.0: not a deal id: "x"/],
    [{ dealIds: [], reason: 'x' }, /dealIds: /],
    [[], /expected object/],
  ])('refuse %j', async (body, detail) => {
    const answer = await api().post('/provisions/requeue', body)
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toMatch(detail)
  })
})

describe('events', () => {
  it.each(['replay', 'skip'])('are acted on, on record: %s', async (action) => {
    const id = await seedEvent(database())
    const { status, body } = await api().post(`/outbox/${id}/${action}`, { reason: 'limit raised' })
    const expected = { eventId: id, affected: 1, auditId: expect.any(String) as unknown }
    expect({ status, body }).toEqual({ status: 200, body: expected })
    const state = action === 'skip' ? 'skipped' : 'pending'
    expect((await api().ask(`/outbox/${id}`)).body).toMatchObject({ state, audit: [{ action }] })
    expect((await api().ask(`/outbox?state=${state}`)).body.items).toMatchObject([{ id }])
  })

  it('that are settled are refused with why', async () => {
    const id = await seedEvent(database(), randomUUID(), 'published_at', 'now()')
    const { status, body } = await api().post(`/outbox/${id}/replay`, { reason: 'x' })
    expect({ status, detail: body.detail }).toEqual({
      status: 409,
      detail: `Event ${id}: it is published already; to tell crm again, re-emit the deal.`,
    })
    expect((await api().post(`/outbox/${randomUUID()}/skip`, { reason: 'x' })).status).toBe(404)
  })
})

describe('jobs and queues', () => {
  async function pausedJob(): Promise<string> {
    await api().ask('/queues/operations', {
      method: 'PATCH',
      body: { paused: true, reason: 'a look first' },
    })
    await poison()
    const body = { filter: { poison: true }, reason: 'mended' }
    const answer = await api().post('/provisions/requeue', body)
    return String(answer.body['jobId'])
  }

  it('a queue is paused and limited; unknown ones are not made', async () => {
    const patch = (name: string, body: unknown) =>
      api().ask(`/queues/${name}`, { method: 'PATCH', body })
    const changed = await patch('operations', { maxWorkers: 3, reason: 'spare the database' })
    expect(changed.body).toMatchObject({ name: 'operations', paused: false, maxWorkers: 3 })
    const again = await patch('operations', { paused: true, maxWorkers: null, reason: 'stop' })
    expect(again.body).toMatchObject({ paused: true, maxWorkers: null })
    expect((await api().ask('/queues')).body.items).toMatchObject([
      { name: 'default' },
      { name: 'maintenance' },
      { name: 'operations' },
    ])
    expect((await patch('operatoins', { paused: true, reason: 'x' })).status).toBe(404)
    expect((await patch('operations', { reason: 'x' })).body.detail).toMatch(/^Say what to change/)
    expect((await patch('operations', { maxWorkers: 0, reason: 'x' })).status).toBe(400)
  })

  it('a job waits, is put forward, cancelled, edited and brought back', async () => {
    const id = await pausedJob()
    const forward = await api().post(`/jobs/${id}/priority`, { priority: 90, reason: 'urgent' })
    expect(forward.body).toMatchObject({ jobId: id, affected: 1 })
    expect((await api().ask(`/jobs/${id}`)).body).toMatchObject({ priority: 90, state: 'Pending' })

    const notDead = await api().post(`/jobs/${id}/resurrect`, { reason: 'x' })
    expect(notDead).toMatchObject({ status: 409, body: { detail: /is Pending/ } })
    expect((await api().post(`/jobs/${id}/cancel`, { reason: 'wrong filter' })).status).toBe(200)
    expect((await api().ask('/jobs?place=dlq&state=Cancelled')).body.items).toMatchObject([{ id }])
    expect((await api().post(`/jobs/${id}/cancel`, { reason: 'again' })).status).toBe(409)

    const back = await api().post(`/jobs/${id}/resurrect`, {
      reason: 'it was right',
      tags: ['second try'],
      payload: { filter: { status: 'Failed' }, by: 'anna', reason: 'mended' },
    })
    expect(back.status).toBe(200)
    expect((await api().ask(`/jobs/${id}`)).body).toMatchObject({
      state: 'Pending',
      tags: ['second try'],
    })
    const actions = (await api().ask('/audit')).body.items?.map(({ action }) => action)
    expect(actions).toEqual(
      expect.arrayContaining(['queue-change', 'job-priority', 'job-cancel', 'job-resurrect']),
    )
  })

  it('that are not there are 404', async () => {
    const id = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'
    expect((await api().ask(`/jobs/${id}`)).status).toBe(404)
    expect((await api().post(`/jobs/${id}/cancel`, { reason: 'x' })).status).toBe(404)
  })
})
