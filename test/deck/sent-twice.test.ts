/** A form that is sent twice, by a double click, a reload or another instance, is carried out once. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { seedEvent } from '../integration/http-api-fixtures.js'
import { emptyTables, serveDeck, type ServedDeck } from './deck-fixtures.js'
import { cookieOf, openForm, post, session } from './deck-forms.js'

const database = useTestDatabase()

describe('a form that is sent twice', () => {
  let deck: ServedDeck
  /** Another instance of the service. */
  let other: ServedDeck
  let cookie: string
  beforeAll(async () => {
    deck = await serveDeck(database())
    other = await serveDeck(database())
    cookie = await session(deck)
  })
  beforeEach(() => emptyTables(database()))
  afterAll(() => Promise.all([deck, other].map(({ app }) => app.stop())))

  const reason = 'a test'
  const audit = () => database().query('select action from messenger.chat_provision_audit')
  const noticeOf = (response: Response): string => {
    const value = cookieOf(response, 'deck_notice').split('=')[1] ?? ''
    return (JSON.parse(Buffer.from(value, 'base64url').toString()) as { text: string }).text
  }

  it('does it once, and tells the second time what came of it', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await openForm(deck, `/provisions/reemit?deal=${dealId}`, cookie)
    const sent = { ...fields, reason }
    const first = await post(url, sent, { cookie })
    const again = await post(url, sent, { cookie })
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
    const { url, fields } = await openForm(deck, path, cookie)
    const sent = { ...fields, reason, typed: '3' }
    const otherUrl = url.replace(deck.url(), other.url())
    const answers = await Promise.all(
      [url, url, otherUrl, otherUrl].map((to) => post(to, sent, { cookie })),
    )
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303])
    const jobs = await database().query('select payload from chokaq.jobs_hot')
    expect(jobs).toMatchObject([{ payload: { atMost: 3 } }])
  })

  it('from another session, after the first had ended, is still the same form', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await openForm(deck, `/provisions/reemit?deal=${dealId}`, cookie)
    await post(url, { ...fields, reason }, { cookie })
    const next = await session(deck, undefined, 'boris')
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
    const { url, fields } = await openForm(deck, `/outbox/${id}/replay`, cookie)
    await post(url, { ...fields, reason }, { cookie })
    await database().query('update messenger.outbox_events set parked_at = now()')
    const answer = await post(url, { ...fields, reason: 'another' }, { cookie })
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
    const { url, fields } = await openForm(deck, `/jobs/${id}/${action}`, cookie)
    const sent = { ...fields, reason, ...(action === 'priority' && { priority: '90' }) }
    const first = await post(url, sent, { cookie })
    expect(first.status).toBe(303)
    const again = await post(url, sent, { cookie })
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
      const { url, fields } = await openForm(deck, `/jobs/${action}?job=${id}`, cookie)
      const other = await openForm(deck, `/jobs/${action}?job=${id}`, cookie)
      const first = await post(url, { ...fields, reason }, { cookie })
      await forgetOutcomes()
      const again = await post(url, { ...fields, reason }, { cookie })
      expect([again.status, noticeOf(again)]).toEqual([303, noticeOf(first)])
      expect(await audit()).toHaveLength(1)
      expect((await post(url, { ...other.fields, reason }, { cookie })).status).toBe(409)
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
    const { url, fields } = await openForm(deck, path, cookie)
    const sent = new URLSearchParams({ ...fields, reason, typed: '2' })
    sent.append('message', done)
    const send = () =>
      fetch(url, { method: 'POST', redirect: 'manual', headers: { cookie }, body: sent })
    expect(noticeOf(await send())).toContain('1 message discarded. 1 message refused')
    await forgetOutcomes()
    await park(left, 2)
    expect(noticeOf(await send())).toBe('2 messages discarded.')
    expect(await audit()).toHaveLength(2)
  })

  it('and changed a queue is not put back over what somebody did since', async () => {
    await database().query(`insert into chokaq.queues (name) values ('operations')`)
    const pause = await openForm(deck, '/queues/operations/pause', cookie)
    await post(pause.url, { ...pause.fields, reason }, { cookie })
    const resume = await openForm(deck, '/queues/operations/resume', cookie)
    await post(resume.url, { ...resume.fields, reason }, { cookie })
    await post(pause.url, { ...pause.fields, reason }, { cookie })
    const [queue] = await database().query('select paused from chokaq.queues')
    expect(queue).toEqual({ paused: false })
  })

  it('its page, read anew, says what came of it, and offers a new one', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const form = await openForm(deck, `/provisions/reemit?deal=${dealId}`, cookie)
    await post(form.url, { ...form.fields, reason }, { cookie })
    const html = await (await fetch(form.page, { headers: { cookie } })).text()
    expect(html).toContain('This form was sent already')
    expect(html).toContain('crm is told of 1 deal.')
    expect(html).not.toContain('<textarea')
    const anew = /href="([^"]+)">Ask for it once more/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    const path = (anew ?? '').replace('/deck', '')
    const { fields, url } = await openForm(deck, path, cookie)
    await post(url, { ...fields, reason }, { cookie })
    expect((await dealState(database().admin, dealId)).events).toEqual(['Failed', 'Failed'])
  })
})

/** The header has a form of its own, to log out. */
async function afterHeader(response: Response): Promise<string> {
  return (await response.text()).split('<main')[1] ?? ''
}
