/** A form that is sent twice, by a double click, a reload or another instance, is carried out once. */

import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { seedEvent } from '../integration/http-api-fixtures.js'
import { emptyTables, useDeck } from './deck-fixtures.js'
import { cookieOf, post, session, useSession } from './deck-forms.js'

const database = useTestDatabase()

describe('a form that is sent twice', () => {
  const deck = useDeck(database)
  /** Another instance of the service. */
  const other = useDeck(database)
  const anna = useSession(deck)
  beforeEach(() => emptyTables(database()))

  const reason = 'a test'
  const audit = () => database().query('select action from messenger.chat_provision_audit')
  const noticeOf = (response: Response): string => {
    const value = cookieOf(response, 'deck_notice').split('=')[1] ?? ''
    return (JSON.parse(Buffer.from(value, 'base64url').toString()) as { text: string }).text
  }

  it('does it once, and tells the second time what came of it', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await anna.openForm(`/provisions/reemit?deal=${dealId}`)
    const sent = { ...fields, reason }
    const first = await anna.post(url, sent)
    const again = await anna.post(url, sent)
    expect([first.status, again.status]).toEqual([303, 303])
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(noticeOf(first)).toBe('crm is told of 1 deal.')
    expect(noticeOf(again)).toMatch(/sent before, and was not done again.*crm is told of 1 deal\.$/)
    expect((await dealState(database().admin, dealId)).events).toEqual(['Failed'])
    expect(await audit()).toHaveLength(1)
  })

  it('at once, to two instances: a job is made once', async () => {
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    for (let n = 0; n < 3; n += 1) await seedDeal(database().admin, { attempts: 10 })
    const path = '/provisions/all/requeue?state=poison'
    const { url, fields } = await anna.openForm(path)
    const sent = { ...fields, reason, typed: '3' }
    const otherUrl = url.replace(deck().url(), other().url())
    const answers = await Promise.all(
      [url, url, otherUrl, otherUrl].map((to) => anna.post(to, sent)),
    )
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303])
    const jobs = await database().query('select payload from chokaq.jobs_hot')
    expect(jobs).toMatchObject([{ payload: { atMost: 3 } }])
  })

  it('from another session, after the first had ended, is still the same form', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await anna.openForm(`/provisions/reemit?deal=${dealId}`)
    await anna.post(url, { ...fields, reason })
    const next = await session(deck(), undefined, 'boris')
    const resumed = await post(url, { ...fields, reason }, { cookie: next })
    expect(resumed.status).toBe(403)
    const anew = /name="formToken" value="([^"]+)"/.exec(await afterHeader(resumed))?.[1] ?? ''
    expect(anew).not.toBe(fields['formToken'])
    const sent = { ...fields, reason, formToken: anew }
    expect(noticeOf(await post(url, sent, { cookie: next }))).toContain('was not done again')
    expect(await audit()).toHaveLength(1)
  })

  it('with other content is not done, and asks again', async () => {
    const id = await seedEvent(database())
    const { url, fields } = await anna.openForm(`/outbox/${id}/replay`)
    await anna.post(url, { ...fields, reason })
    await database().query('update messenger.outbox_events set parked_at = now()')
    const answer = await anna.post(url, { ...fields, reason: 'another' })
    expect(answer.status).toBe(409)
    const html = await answer.text()
    expect(html).toContain('sent before, with other content')
    expect(html).toContain('another</textarea>')
    expect(html).not.toContain(fields['formToken'])
    expect(await audit()).toHaveLength(1)
  })

  async function seedJob(id: string, place: 'hot' | 'dlq'): Promise<void> {
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    await database().query(
      place === 'dlq'
        ? `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
             created_at, reason, details)
           values ($1, 'operations', 'provision.reemit.v1', '{}', 10, 4, 3, '{}', now(), 'FatalError', '')`
        : `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
           values ($1, 'operations', 'provision.reemit.v1', '{}', 10)`,
      [id],
    )
  }

  it.each(['cancel', 'resurrect', 'priority'])('changes a job once: %s', async (action) => {
    const id = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'
    await seedJob(id, action === 'resurrect' ? 'dlq' : 'hot')
    const { url, fields } = await anna.openForm(`/jobs/${id}/${action}`)
    const sent = { ...fields, reason, ...(action === 'priority' && { priority: '90' }) }
    const first = await anna.post(url, sent)
    expect(first.status).toBe(303)
    const again = await anna.post(url, sent)
    expect([again.status, noticeOf(again)]).toEqual([
      303,
      expect.stringContaining(noticeOf(first)) as string,
    ])
    expect(await audit()).toHaveLength(1)
  })

  /** As if the request had been cut off after its work, before that was kept. */
  const forgetOutcomes = () => database().query('delete from messenger.operator_requests')

  it.each(['cancel', 'resurrect'])(
    'after it was cut off calls what it had done itself done: chosen jobs, %s',
    async (action) => {
      const id = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'
      await seedJob(id, action === 'resurrect' ? 'dlq' : 'hot')
      const { url, fields } = await anna.openForm(`/jobs/${action}?job=${id}`)
      const other = await anna.openForm(`/jobs/${action}?job=${id}`)
      const first = await anna.post(url, { ...fields, reason })
      await forgetOutcomes()
      const again = await anna.post(url, { ...fields, reason })
      expect([again.status, noticeOf(again)]).toEqual([303, noticeOf(first)])
      expect(await audit()).toHaveLength(1)
      expect((await anna.post(url, { ...other.fields, reason })).status).toBe(409)
    },
  )

  it('after it was cut off calls what it had done itself done: messages', async () => {
    const [done, left] = ['0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00', randomUUID()]
    const park = (id: string, offset: number) =>
      database().query(
        `insert into messenger.intake_parked (id, topic, partition, "offset", error)
         values ($1, 't', 0, $2, 'NOT_JSON')`,
        [id, offset],
      )
    await park(done, 1)
    const path = `/intake/discard?message=${done}&message=${left}`
    const { url, fields } = await anna.openForm(path)
    const sent = new URLSearchParams({ ...fields, reason, typed: '2' })
    sent.append('message', done)
    const send = () =>
      fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: anna.cookie() },
        body: sent,
      })
    expect(noticeOf(await send())).toContain('1 message discarded. 1 message refused')
    await forgetOutcomes()
    await park(left, 2)
    expect(noticeOf(await send())).toBe('2 messages discarded.')
    expect(await audit()).toHaveLength(2)
  })

  it('and changed a queue is not put back over what somebody did since', async () => {
    await database().query(`insert into chokaq.queues (name) values ('operations')`)
    const pause = await anna.openForm('/queues/operations/pause')
    await anna.post(pause.url, { ...pause.fields, reason })
    const resume = await anna.openForm('/queues/operations/resume')
    await anna.post(resume.url, { ...resume.fields, reason })
    await anna.post(pause.url, { ...pause.fields, reason })
    const [queue] = await database().query('select paused from chokaq.queues')
    expect(queue).toEqual({ paused: false })
  })

  it('its page, read anew, says what came of it, and offers a new one', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const form = await anna.openForm(`/provisions/reemit?deal=${dealId}`)
    await anna.post(form.url, { ...form.fields, reason })
    const html = await (await fetch(form.page, { headers: { cookie: anna.cookie() } })).text()
    expect(html).toContain('This form was sent already')
    expect(html).toContain('crm is told of 1 deal.')
    expect(html).not.toContain('<textarea')
    const anew = /href="([^"]+)">Ask for it once more/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    const path = (anew ?? '').replace('/deck', '')
    const { fields, url } = await anna.openForm(path)
    await anna.post(url, { ...fields, reason })
    expect((await dealState(database().admin, dealId)).events).toEqual(['Failed', 'Failed'])
  })
})

/** The header has a form of its own, to log out. */
async function afterHeader(response: Response): Promise<string> {
  return (await response.text()).split('<main')[1] ?? ''
}
