/** The HTTP side under requests of bad will: each is refused in one form, and hinders nobody else. */

import { beforeEach, describe, expect, it } from 'vitest'
import { dealState, seedDeal } from '../support/deals.js'
import { askRaw, openRaw, type RawConnection } from '../support/raw-http.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { adminToken, emptyTables, serveApi, tokens, useApi } from './http-api-fixtures.js'

const database = useTestDatabase()
const maxAttempts = 10

const withGrace = { ...tokens, SHUTDOWN_GRACE: '10s' }
const api = useApi(database, () => withGrace)
beforeEach(() => emptyTables(database()))

const head = (method: string, path: string, headers: readonly string[] = []): string =>
  [`${method} ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${adminToken}`, ...headers]
    .map((line) => `${line}\r\n`)
    .join('')

/** A change whose body never comes whole. */
const halfABody = `${head('POST', '/api/v1/provisions/requeue', [
  'content-type: application/json',
  'content-length: 1000',
])}\r\n{"a"`

describe('what is no request', () => {
  it.each([
    ['an unknown method', 'FOO / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['two lengths', `${head('POST', '/', ['content-length: 1', 'content-length: 2'])}\r\nab`, 400],
    ['a chunk of no size', `${head('POST', '/', ['transfer-encoding: chunked'])}\r\nzz\r\n`, 400],
    ['headers of a megabyte', head('GET', '/', [`x: ${'y'.repeat(1_000_000)}`]), 431],
  ])('is a problem like all others: %s', async (_name, text, status) => {
    const answer = await askRaw(api().address, text)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toContain('content-type: application/problem+json')
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as object
    expect(body).toMatchObject({ type: 'about:blank', status })
  })

  it('is nobody any more: who hangs up early leaves no line in the log', async () => {
    const before = api().logged()
    for (let n = 0; n < 50; n += 1) {
      const { socket } = await openRaw(api().address, halfABody)
      socket.destroy()
    }
    expect((await api().ask('/runs')).status).toBe(200)
    expect(api().logged().slice(before.length)).not.toContain('http failed')
  })

  it('does not arrive in time: slow heads and slow bodies are given up, others are served', async () => {
    const slow: RawConnection[] = []
    for (let n = 0; n < 100; n += 1) {
      slow.push(await openRaw(api().address, 'GET /healthz HTTP/1.1\r\nhost: x\r\nx: '))
      slow.push(await openRaw(api().address, halfABody))
    }
    const drip = setInterval(() => slow.forEach(({ socket }) => socket.write('y')), 500)
    const served = async () => (await fetch(`${api().address}/healthz`)).status
    expect(await served()).toBe(200)
    await Promise.all(slow.map(({ closed }) => closed))
    clearInterval(drip)
    expect(await served()).toBe(200)
    const answers = slow.map(({ seen }) => seen())
    expect(answers.filter((text) => text.startsWith('HTTP/1.1 408 ')).length).toBeGreaterThan(0)
    for (const text of answers) expect(text).toMatch(/^(HTTP\/1\.1 408 |$)/)
  })
})

describe('requests of an odd shape', () => {
  it('a query where there is none is refused, before anything is changed', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: maxAttempts })
    const body = { dealIds: [dealId], reason: 'x' }
    const answer = await api().post('/provisions/requeue?dryRun=true', body)
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toBe('This path takes no query, and "dryRun" is one.')
    expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: maxAttempts })
    for (const path of ['/summary?x', '/queues?limit=3', '/settings?a=b', '/openapi.json?v=2']) {
      expect((await api().ask(path)).status).toBe(400)
    }
  })

  it.each(['limit=2&limit=3', 'cursor=a&cursor=b', 'status=Failed&status=Ready'])(
    'a name twice is refused by name: %s',
    async (query) => {
      const { status, body } = await api().ask(`/provisions?${query}`)
      expect(status).toBe(400)
      expect(body.detail).toMatch(/^"(limit|cursor|status)" is given more than once/)
    },
  )

  it('a body nested to exhaust the stack is refused', async () => {
    const deep = `{"dealIds":${'['.repeat(30_000)}${']'.repeat(30_000)},"reason":"x"}`
    const response = await fetch(`${api().address}/api/v1/provisions/requeue`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: deep,
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      detail: expect.stringMatching(/nested/) as string,
    })
  })

  it.each(['{"__proto__":{"dryRun":true},"reason":"x"}', '{"constructor":{"prototype":{}}}'])(
    'a body that aims at a prototype is refused: %s',
    async (text) => {
      const response = await fetch(`${api().address}/api/v1/provisions/requeue`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
        body: text,
      })
      expect(response.status).toBe(400)
      expect(({} as Record<string, unknown>)['dryRun']).toBeUndefined()
    },
  )

  it.each([
    ['half a surrogate pair', 'a\ud800b'],
    ['nothing that shows', '\u200b\u2060'],
    ['writing turned round', 'paid \u202e000,1'],
    ['an end of the text', 'a\u0000b'],
    ['an escape to a terminal', '\u001b[2J'],
  ])('a reason that could mislead who reads the audit is refused: %s', async (_name, reason) => {
    const { dealId } = await seedDeal(database().admin, { attempts: maxAttempts })
    for (const words of [{ reason }, { reason: 'x', by: reason }]) {
      const answer = await api().post('/provisions/requeue', { dealIds: [dealId], ...words })
      expect(answer.status).toBe(400)
    }
    expect((await api().ask('/audit')).body.items).toEqual([])
  })

  it('a reason in any script, and with an emoji, is kept as it is', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: maxAttempts })
    const reason = 'исправлено 修复 تم 👩‍💻'
    expect((await api().post('/provisions/requeue', { dealIds: [dealId], reason })).status).toBe(
      200,
    )
    expect((await api().ask('/audit')).body.items).toMatchObject([{ reason }])
  })

  it('a filter that can find nothing is told from one that found nothing', async () => {
    const none = await api().ask('/jobs?place=hot&state=Zombie')
    expect(none).toMatchObject({ status: 400, body: { detail: /those are in dlq/ } })
    expect((await api().ask('/jobs?state=Zombie')).status).toBe(200)
    expect((await api().ask('/audit?actor=%20')).body.detail).toMatch(/^actor: /)
  })
})

it('a database that takes no writes is not ready, and says so', async () => {
  const setWrites = async (text: string): Promise<void> => {
    await database().query(`begin read write; alter database ${database().name} ${text}; commit`)
    await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'chat-provision-retry%'`,
    )
  }
  // The broker of these tests is never there.
  const reasons = async () => (await fetch(`${api().address}/readyz`)).text()
  await setWrites('set default_transaction_read_only = on')
  await waitFor('why it is not ready', async () => (await reasons()).includes('read-only'))
  const { status, body } = await api().ask('/queues/operations', {
    method: 'PATCH',
    body: { maxWorkers: 3, reason: 'x' },
  })
  expect(status).toBe(503)
  expect(body.detail).toContain('25006')
  await setWrites('reset default_transaction_read_only')
  await waitFor('writes', async () => !(await reasons()).includes('database: '))
})

it('stops within its grace while clients of every kind are connected', async () => {
  const other = await serveApi(database(), withGrace)
  const clients: RawConnection[] = []
  for (let n = 0; n < 10; n += 1) {
    clients.push(await openRaw(other.address, `${head('GET', '/api/v1/events')}\r\n`))
    clients.push(await openRaw(other.address, `${head('GET', '/healthz')}\r\n`))
    clients.push(await openRaw(other.address, 'GET /healthz HTTP/1.1\r\nhost: x\r\nx: '))
    clients.push(await openRaw(other.address, halfABody))
  }
  await waitFor('the streams', () => clients[0]?.seen().includes('retry: 3000'))
  const begun = performance.now()
  await other.app.stop()
  expect(performance.now() - begun).toBeLessThan(10_000)
  await Promise.all(clients.map(({ closed }) => closed))
})
