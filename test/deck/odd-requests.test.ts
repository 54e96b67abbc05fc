/** What no page of The Deck sends: answered by a page all the same, which says what was wrong with it. */

import { beforeEach, describe, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { emptyTables, serveDeck, tokens, useDeck } from './deck-fixtures.js'
import { post, useSession } from './deck-forms.js'

const database = useTestDatabase()

describe('an odd request', () => {
  const deck = useDeck(database)
  const anna = useSession(deck)
  beforeEach(() => emptyTables(database()))

  /** What a browser would show of it. */
  async function shown(path: string, init: RequestInit = {}) {
    const response = await fetch(deck().url(path), { redirect: 'manual', ...init })
    const { status, headers } = response
    const text = await response.text()
    expect(headers.get('content-type')).toMatch(/^text\/html/)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    return { status, headers, text: text.split('<main')[1] ?? '' }
  }
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' }

  it.each([
    ['application/json', '{"reason":"x","deal":["a"]}'],
    ['application/json', 'null'],
    ['text/plain', 'reason=x'],
    ['multipart/form-data; boundary=x', '--x--'],
  ])('a body of type %s is refused: %s', async (type, body) => {
    for (const path of ['/provisions/requeue', '/login', '/logout', '/queues/operations/pause']) {
      const headers = { cookie: anna.cookie(), 'content-type': type }
      const { status, text } = await shown(path, { method: 'POST', headers, body })
      expect([path, status]).toEqual([path, 415])
      expect(text).toContain('application/x-www-form-urlencoded')
    }
  })

  it('a field that is given twice is refused, and nothing is done', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await anna.openForm(`/provisions/requeue?deal=${dealId}`)
    for (const twice of ['reason', 'back', 'typed']) {
      const body = new URLSearchParams({ ...fields, reason: 'a test', back: '/deck', typed: '1' })
      body.append(twice, 'other')
      const response = await fetch(url, {
        method: 'POST',
        headers: { cookie: anna.cookie(), ...asForm },
        body,
      })
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('is given more than once')
    }
    expect((await dealState(database().admin, dealId)).attempts).toBe(10)
  })

  it('a form to a page that takes none says so, and not that the session has ended', async () => {
    for (const headers of [{ cookie: anna.cookie(), ...asForm }, asForm]) {
      for (const path of ['', '/', '/runs', '/provisions', '/settings']) {
        const answer = await shown(path, { method: 'POST', headers, body: 'a=b' })
        expect([path, answer.status]).toEqual([path, 405])
        expect(answer.headers.get('allow')).toBe('GET, HEAD')
      }
      const nowhere = await shown('/nowhere', { method: 'POST', headers, body: 'a=b' })
      expect(nowhere.status).toBe(404)
      expect(nowhere.text).toContain('There is no such page')
    }
  })

  it.each(['/%zz', '/provisions/%', '/jobs/%c0%af?x=%zz'])('the address %s', async (path) => {
    const { status, text } = await shown(path, { headers: { cookie: anna.cookie() } })
    expect(status).toBe(400)
    expect(text).toContain('To the overview')
  })

  it.each(['runs', 'provisions', 'outbox', 'jobs', 'audit'])(
    'a cursor that no list gave, of the list of %s',
    async (list) => {
      for (const cursor of ['forged', 'x'.repeat(5_000), 'cnVucyAx', '%00']) {
        const { status, text } = await shown(`/${list}?cursor=${cursor}`, {
          headers: { cookie: anna.cookie() },
        })
        expect([cursor.slice(0, 10), status]).toEqual([cursor.slice(0, 10), 200])
        expect(text).toMatch(/role="alert"/)
        expect(text).toMatch(new RegExp(`href="/deck/${list}">Newest`))
      }
    },
  )

  it('a link fills in nothing that confirms', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const typed = 'reason=forged&typed=forged&seen=forged&formToken=forged'
    for (const path of [
      `/provisions/requeue?deal=${dealId}&${typed}`,
      `/provisions/all/requeue?state=poison&${typed}`,
      `/queues/operations/limit?maxWorkers=forged&${typed}`,
    ]) {
      const response = await fetch(deck().url(path), { headers: { cookie: anna.cookie() } })
      expect([path, response.status]).toEqual([path, 200])
      expect(await response.text()).not.toContain('forged')
    }
  })

  it('a way back of any length leaves a notice that browsers keep', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const back = `/deck/provisions?error=${'x'.repeat(3_000)}`
    const path = `/provisions/requeue?${new URLSearchParams({ deal: dealId, back }).toString()}`
    const { url, fields } = await anna.openForm(path)
    const response = await anna.post(url, { ...fields, reason: 'a test' })
    const [notice = ''] = response.headers.getSetCookie()
    expect(notice).toMatch(/^deck_notice=/)
    expect(notice.length).toBeLessThan(4_000)
    expect(response.headers.get('location')).toBe(back)
  })

  it('every cookie is Secure where the request came by TLS, and Lax', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await anna.openForm(`/provisions/requeue?deal=${dealId}`)
    const headers = { 'x-forwarded-proto': 'https' }
    const done = await anna.post(url, { ...fields, reason: 'a test' }, headers)
    const [notice = ''] = done.headers.getSetCookie()
    const read = await fetch(deck().url('/runs'), {
      headers: { ...headers, cookie: `${anna.cookie()}; ${notice.split(';', 1)[0] ?? ''}` },
    })
    const local = await serveDeck(database(), {})
    const visitor = await fetch(local.url('/runs'), { headers })
    await local.app.stop()
    const out = await anna.post(url.replace(/provisions.*/, 'logout'), fields, headers)
    for (const response of [done, read, visitor, out]) {
      const cookies = response.headers.getSetCookie()
      expect(cookies).not.toEqual([])
      for (const text of cookies) expect(text).toMatch(/HttpOnly; Secure; SameSite=Lax$/)
    }
  })

  it('a form that is too large says what to do, and one that a payload needs is taken', async () => {
    const headers = { cookie: anna.cookie(), ...asForm }
    const tooLarge = await shown('/provisions/requeue', {
      ...{ method: 'POST', headers },
      body: `reason=${'x'.repeat(3 * 1024 * 1024)}`,
    })
    expect([tooLarge.status, tooLarge.text]).toEqual([
      413,
      expect.stringContaining('at most 256 KiB') as string,
    ])
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const { url, fields } = await anna.openForm(`/provisions/requeue?deal=${dealId}`)
    const reason = 'ж'.repeat(200 * 1024)
    const long = await anna.post(url, { ...fields, reason })
    const text = await long.text()
    expect(long.status).toBe(400)
    expect(text).toContain('in 1 to 1000 characters')
    expect(text).toContain(reason)
  })

  it('a session that ended keeps a long form, too, over the login', async () => {
    const payload = JSON.stringify({ note: 'ж'.repeat(120 * 1024) })
    const sent = { payload, reason: 'a test', formToken: 'of another' }
    const path = '/jobs/01J9Z3K4M5N6P7Q8R9S0T1V2W3/resurrect'
    const asked = await post(deck().url(path), sent)
    expect(asked.status).toBe(401)
    const carried = Object.fromEntries(
      Object.entries(sent).map(([name, value]) => [`carried.${name}`, value]),
    )
    const token = tokens.DECK_ADMIN_TOKEN
    const resumed = await post(deck().url('/login'), { token, next: `/deck${path}`, ...carried })
    expect(resumed.status).toBe(200)
    expect(await resumed.text()).toContain('ж'.repeat(120 * 1024))
  })
})
