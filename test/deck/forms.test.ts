/** Other pages change nothing in a visitor's name (CSRF), nor does the cookie by way of the API. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import {
  adminToken,
  emptyTables,
  readToken,
  serveDeck,
  tokens,
  type ServedDeck,
} from './deck-fixtures.js'
import { cookieOf, formToken, post, session, type Sent } from './deck-forms.js'

const database = useTestDatabase()
const served: ServedDeck[] = []
afterAll(() => Promise.all(served.map(({ app }) => app.stop())))
beforeEach(() => emptyTables(database()))

async function serve(options: Readonly<Record<string, string>>): Promise<ServedDeck> {
  const deck = await serveDeck(database(), options)
  served.push(deck)
  return deck
}

describe('a form', () => {
  let deck: ServedDeck
  let cookie: string
  let dealId: string
  beforeAll(async () => {
    deck = await serve(tokens)
    cookie = await session(deck)
  })
  beforeEach(async () => {
    dealId = (await seedDeal(database().admin, { attempts: 10 })).dealId
  })
  const requeue = async (fields: Readonly<Record<string, string>>, sent: Sent = { cookie }) => {
    const order = { deal: dealId, reason: 'a test', ...fields }
    const { status } = await post(deck.url('/provisions/requeue'), order, sent)
    const { attempts } = await dealState(database().admin, dealId)
    return { status, isDone: attempts === 0 }
  }
  const token = () => formToken(deck, `/provisions/requeue?deal=${dealId}`, cookie)

  it('of a page of this session is taken', async () => {
    expect(await requeue({ formToken: await token() })).toEqual({ status: 303, isDone: true })
  })

  it('without its token, or with that of another session, is not', async () => {
    expect(await requeue({})).toEqual({ status: 403, isDone: false })
    const other = await session(deck, readToken)
    const others = await formToken(deck, '/provisions', other)
    expect(others).not.toBe('')
    expect(await requeue({ formToken: others })).toEqual({ status: 403, isDone: false })
  })

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])('from elsewhere is not, whatever it holds: %j', async (headers) => {
    const sent = { cookie, headers }
    expect(await requeue({ formToken: await token() }, sent)).toEqual({
      status: 403,
      isDone: false,
    })
  })

  it('of a reader is not', async () => {
    const reader = await session(deck, readToken)
    const fields = { formToken: await formToken(deck, '/provisions', reader) }
    expect(await requeue(fields, { cookie: reader })).toEqual({ status: 403, isDone: false })
  })

  it('the cookie reads the API and changes nothing there', async () => {
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${deck.address}/api/v1${path}`, {
        ...init,
        headers: { cookie, 'content-type': 'application/json' },
      })
    expect((await ask('/summary')).status).toBe(200)
    const body = JSON.stringify({ dealIds: [dealId], reason: 'a test' })
    expect((await ask('/provisions/requeue', { method: 'POST', body })).status).toBe(403)
    expect((await dealState(database().admin, dealId)).attempts).toBe(10)
  })

  it('a login leads nowhere else', async () => {
    for (const next of [
      'https://evil.example',
      '//evil.example',
      '/deck\\evil',
      '/deckx',
      '/deck/login',
    ]) {
      const response = await post(deck.url('/login'), { token: adminToken, next })
      expect([next, response.headers.get('location')]).toEqual([next, '/deck'])
    }
    const inside = await post(deck.url('/login'), {
      token: adminToken,
      next: '/deck/runs?cursor=x',
    })
    expect(inside.headers.get('location')).toBe('/deck/runs?cursor=x')
  })

  it('a cookie that was changed, or is of another token, is none', async () => {
    const [value = ''] = cookie.split('=').slice(1)
    const [content = '', mark = ''] = value.split('.')
    const forged = JSON.parse(Buffer.from(content, 'base64url').toString()) as object
    const longer = Buffer.from(JSON.stringify({ ...forged, expiresAt: 9_999_999_999 }))
    for (const text of [`${longer.toString('base64url')}.${mark}`, `${content}.`, content, 'x.y']) {
      const { status } = await fetch(deck.url('/runs'), {
        redirect: 'manual',
        headers: { cookie: `deck_session=${text}` },
      })
      expect(status).toBe(303)
    }
    const changed = await serve({ ...tokens, DECK_ADMIN_TOKEN: 'another-admin-token' })
    const { status } = await fetch(changed.url('/runs'), {
      redirect: 'manual',
      headers: { cookie },
    })
    expect(status).toBe(303)
  })

  it('a second instance, or this one after a restart, knows the session', async () => {
    const second = await serve(tokens)
    expect((await fetch(second.url('/runs'), { headers: { cookie } })).status).toBe(200)
  })

  it('that was logged out is over, for its copy and on another instance too', async () => {
    const second = await serve(tokens)
    const ended = await session(second, adminToken, 'boris')
    const token = await formToken(deck, '/runs', ended)
    const read = async (url: string) =>
      (await fetch(url, { redirect: 'manual', headers: { cookie: ended } })).status
    expect([await read(deck.url('/runs')), await read(second.url('/runs'))]).toEqual([200, 200])
    await post(deck.url('/logout'), { formToken: token }, { cookie: ended })
    expect([await read(deck.url('/runs')), await read(second.url('/runs'))]).toEqual([303, 303])
    expect(await read(`${second.address}/api/v1/summary`)).toBe(401)
    expect((await fetch(deck.url('/runs'), { headers: { cookie } })).url).toBe(deck.url('/runs'))
  })

  it('a reader logs out, too', async () => {
    const reader = await session(deck, readToken)
    const fields = { formToken: await formToken(deck, '/provisions', reader) }
    const without = await post(deck.url('/logout'), {}, { cookie: reader })
    expect(without.status).toBe(403)
    const answer = await post(deck.url('/logout'), fields, { cookie: reader })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/deck/login'])
    const after = await fetch(deck.url('/runs'), {
      redirect: 'manual',
      headers: { cookie: reader },
    })
    expect(after.status).toBe(303)
  })

  it('is Secure where the request came by TLS', async () => {
    const by = async (headers: Record<string, string>) => {
      const response = await post(deck.url('/login'), { token: adminToken }, { headers })
      return response.headers.getSetCookie().join()
    }
    expect(await by({ 'x-forwarded-proto': 'https' })).toMatch(/; Secure/)
    expect(await by({})).not.toMatch(/; Secure/)
  })

  it('guessing tokens is slow', async () => {
    const strict = await serve(tokens)
    const statuses = new Set<number>()
    for (let n = 0; n < 12; n++) {
      statuses.add((await post(strict.url('/login'), { token: `guess ${n}` })).status)
    }
    expect([...statuses]).toEqual([401, 429])
    // Else whoever guesses right would still get in.
    const right = await post(strict.url('/login'), { token: adminToken })
    expect(right.status).toBe(429)
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await right.text()).toContain('10 wrong tokens came from your address')
  })

  it('what other pages send to the login keeps nobody out, nor do logins', async () => {
    const strict = await serve(tokens)
    const statuses: number[] = []
    for (let n = 0; n < 24; n++) {
      const headers: Record<string, string> =
        n < 12 ? { origin: 'https://evil.example' } : { origin: strict.address }
      statuses.push((await post(strict.url('/login'), { token: adminToken }, { headers })).status)
    }
    expect([...new Set(statuses.slice(0, 12))]).toEqual([403])
    expect([...new Set(statuses.slice(12))]).toEqual([303])
  })
})

describe('without tokens', () => {
  let deck: ServedDeck
  beforeAll(async () => {
    deck = await serve({})
  })

  it('there is no login, and forms are protected all the same', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    const path = `/provisions/requeue?deal=${dealId}`
    const page = await fetch(deck.url(path))
    const cookie = cookieOf(page, 'deck_visitor')
    const token = /name="formToken" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const order = { deal: dealId, reason: 'a test' }
    const url = deck.url('/provisions/requeue')
    expect((await post(url, order)).status).toBe(403)
    expect((await post(url, order, { cookie })).status).toBe(403)
    expect((await post(url, { ...order, formToken: token })).status).toBe(403)
    expect((await dealState(database().admin, dealId)).attempts).toBe(10)
    expect((await post(url, { ...order, formToken: token }, { cookie })).status).toBe(303)
    const [line] = await database().query('select actor from messenger.chat_provision_audit')
    expect(line).toEqual({ actor: 'deck:local' })
  })

  it('through a proxy it is not there', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const response = await fetch(deck.url(), { headers })
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('DECK_READ_TOKEN')
  })
})
