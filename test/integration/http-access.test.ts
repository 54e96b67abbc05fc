/** Who may use the API: with tokens, without, from where, and by which methods and types. */

import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useTestDatabase } from '../support/test-database.js'
import {
  adminToken,
  readToken,
  serveApi,
  tokens,
  type ApiAnswer,
  type ServedApi,
} from './http-api-fixtures.js'

const database = useTestDatabase()
const served: ServedApi[] = []
afterAll(() => Promise.all(served.map(({ app }) => app.stop())))

async function serve(options: Readonly<Record<string, string>>): Promise<ServedApi> {
  const api = await serveApi(database(), options)
  served.push(api)
  return api
}

const change = { method: 'PATCH', body: { paused: true, reason: 'a test' } }

describe('with both tokens', () => {
  let api: ServedApi
  beforeAll(async () => {
    api = await serve(tokens)
  })

  it('nobody without one gets anything but health and metrics', async () => {
    const paths = Object.keys(api.document.content.paths).filter((path) => !path.includes('{'))
    expect(paths.length).toBeGreaterThan(10)
    for (const path of paths.map((text) => text.replace('/api/v1', ''))) {
      const answer = await api.ask(path, { token: null })
      expect([path, answer.status]).toEqual([path, 401])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /)
    }
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(api.address + path)).status).not.toBe(401)
    }
  })

  it('the metrics have those of the process among them', async () => {
    const text = await (await fetch(`${api.address}/metrics`)).text()
    expect(text).toMatch(/^messenger_chat_provision_failed 0$/m)
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
  })

  it.each(['', 'wrong', readToken.slice(0, -1), `${readToken}x`, adminToken.toUpperCase()])(
    'a wrong one is none: %j',
    async (token) => {
      const { status, text } = await api.ask('/summary', { token })
      expect(status).toBe(401)
      expect(text).not.toContain(readToken)
    },
  )

  it('takes them as bearer only, whatever the case of the word', async () => {
    const by = (authorization: string) =>
      api.ask('/runs', { token: null, headers: { authorization } })
    expect((await by(`bearer ${readToken}`)).status).toBe(200)
    expect((await by(`Basic ${btoa(`admin:${adminToken}`)}`)).status).toBe(401)
    expect((await by(adminToken)).status).toBe(401)
    expect((await api.ask(`/runs?token=${readToken}`, { token: null })).status).toBe(401)
  })

  it('the reader reads and changes nothing', async () => {
    expect((await api.ask('/settings', { token: readToken })).status).toBe(200)
    const before = (await api.ask('/queues')).body.items
    const refused = await api.ask('/queues/operations', { ...change, token: readToken })
    expect(refused.status).toBe(403)
    expect(refused.body.detail).toMatch(/DECK_ADMIN_TOKEN/)
    expect(before).not.toEqual([])
    expect((await api.ask('/queues')).body.items).toEqual(before)
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
    'a form on another page changes nothing (CSRF): %s',
    async (type) => {
      const { status } = await api.ask('/queues/operations', {
        ...change,
        headers: { 'content-type': type },
      })
      expect(status).toBe(415)
    },
  )

  it('other methods are 405, and say which there are', async () => {
    const wrong = await api.ask('/summary', { method: 'DELETE' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const put = await api.ask('/provisions/requeue', { method: 'PUT', body: {} })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await api.ask('/summary', { method: 'OPTIONS' })).status).toBe(405)
    expect((await api.ask('/nothing')).status).toBe(404)
  })

  it('bodies are bounded, and must be JSON', async () => {
    const reason = 'x'.repeat(100_000)
    const large = await api.post('/outbox/0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00/skip', { reason })
    expect(large.status).toBe(413)
    const broken = await fetch(`${api.address}/api/v1/provisions/requeue`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: '{"reason": ',
    })
    expect(broken.status).toBe(400)
    expect(broken.headers.get('content-type')).toMatch('application/problem+json')
  })

  it('sets security headers, and lets no other origin read', async () => {
    const { headers } = await api.ask('/summary', { headers: { origin: 'https://evil.example' } })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  it('logs no token', () => {
    expect(api.logged()).not.toContain(adminToken)
    expect(api.logged()).not.toContain(readToken)
  })
})

describe('with one token', () => {
  it('the reader alone: changes are switched off', async () => {
    const api = await serve({ DECK_READ_TOKEN: readToken })
    expect((await api.ask('/runs', { token: readToken })).status).toBe(200)
    const { status, body } = await api.ask('/queues/operations', { ...change, token: readToken })
    expect(status).toBe(403)
    expect(body.detail).toMatch(/DECK_ADMIN_TOKEN is not set/)
    expect((await api.ask('/runs', { token: null })).status).toBe(401)
  })

  it('the admin alone: reading takes it too', async () => {
    const api = await serve({ DECK_ADMIN_TOKEN: adminToken })
    expect((await api.ask('/runs', { token: null })).status).toBe(401)
    expect((await api.ask('/runs')).status).toBe(200)
    expect((await api.ask('/queues/operations', change)).status).toBe(200)
  })
})

describe('without tokens', () => {
  let api: ServedApi
  beforeAll(async () => {
    api = await serve({})
  })

  /** fetch sends its own Host. */
  function askBy(host: string, headers: Record<string, string> = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      request(`${api.address}/api/v1/runs`, { headers: { ...headers, host } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
  }

  it('whoever is on this machine may all, on record as local', async () => {
    expect((await api.ask('/runs', { token: null })).status).toBe(200)
    expect((await api.ask('/queues/operations', { ...change, token: null })).status).toBe(200)
    const { body } = await api.ask('/audit', { token: null })
    expect(body.items?.[0]).toMatchObject({ actor: 'api:local', action: 'queue-change' })
  })

  it.each(['localhost', 'localhost:8080', '127.0.0.1:1', '[::1]:8080', 'LOCALHOST'])(
    'by a name of this machine: %s',
    async (host) => {
      expect(await askBy(host)).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
  ])('by another name it is not there (DNS rebinding): %s', async (host) => {
    expect(await askBy(host)).toBe(403)
  })

  it('through a proxy it is not there', async () => {
    expect(await askBy('localhost', { 'x-forwarded-for': '203.0.113.7' })).toBe(403)
  })

  it.each(['0.0.0.0', firstAddress()])('bound to %s it is off, from here too', async (host) => {
    const open = await serve({ HTTP_HOST: host })
    const answer: ApiAnswer = await open.ask('/runs', { token: null })
    expect(answer.status).toBe(404)
    expect(answer.body.detail).toMatch(/^The API is off: .* DECK_READ_TOKEN/)
    expect((await fetch(`${open.address}/healthz`)).status).toBe(200)
  })
})

/** One that others can reach; a machine without any has only what the first case tries. */
function firstAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '0.0.0.0'
}
