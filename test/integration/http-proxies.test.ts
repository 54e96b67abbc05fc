/** Guesses behind a proxy: whose address they are counted by. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { useTestDatabase } from '../support/test-database.js'
import { adminToken, emptyTables, serveApi, tokens, type ServedApi } from './http-api-fixtures.js'

const database = useTestDatabase()
beforeEach(() => emptyTables(database()))

let api: ServedApi
const serve = async (
  options: Record<string, string> = {},
  readsPerMinute = 1_000,
): Promise<void> => {
  const limits = { readsPerMinute, changesPerMinute: 1_000 }
  api = await serveApi(database(), { ...tokens, ...options }, limits)
}
afterEach(() => api.app.stop())

/** As a proxy adds the address that it was asked from to what came. */
const throughProxy = (...addresses: string[]) => ({ 'x-forwarded-for': addresses.join(', ') })

const logIn = async (token: string, headers: Record<string, string>): Promise<number> => {
  const body = new URLSearchParams({ token })
  const url = `${api.address}/deck/login`
  return (await fetch(url, { method: 'POST', body, headers, redirect: 'manual' })).status
}
const guess = async (times: number, headersOf: (n: number) => Record<string, string>) => {
  const statuses: number[] = []
  for (let n = 0; n < times; n += 1) statuses.push(await logIn(`guess ${n}`, headersOf(n)))
  return [...new Set(statuses)]
}

describe('with a proxy that is trusted', () => {
  it.each(['127.0.0.1', '192.0.2.0/24, 127.0.0.0/8', '::1, 127.0.0.1'])(
    'named as %s, who guesses keeps nobody else from logging in',
    async (proxies) => {
      await serve({ HTTP_TRUSTED_PROXIES: proxies })
      expect(await guess(12, () => throughProxy('203.0.113.7'))).toEqual([401, 429])
      expect(await logIn(adminToken, throughProxy('203.0.113.7'))).toBe(429)
      expect(await logIn(adminToken, throughProxy('198.51.100.4'))).toBe(303)
      expect(await logIn(adminToken, {})).toBe(303)
    },
  )

  it('an address that the guesser made up counts for nothing', async () => {
    await serve({ HTTP_TRUSTED_PROXIES: '127.0.0.1' })
    const headersOf = (n: number) => throughProxy(`192.0.2.${n}`, '203.0.113.7')
    expect(await guess(12, headersOf)).toEqual([401, 429])
  })

  it('the guesses of the API are counted likewise', async () => {
    await serve({ HTTP_TRUSTED_PROXIES: '127.0.0.1' }, 3)
    const ask = async (address: string) => {
      const headers = throughProxy(address)
      return (await api.ask('/runs', { token: 'guess', headers })).status
    }
    const often = ['203.0.113.7', '203.0.113.7', '203.0.113.7', '203.0.113.7']
    const statuses: number[] = []
    for (const address of often) statuses.push(await ask(address))
    expect(statuses).toEqual([401, 401, 401, 429])
    expect(await ask('198.51.100.4')).toBe(401)
  })

  it('without tokens all stays shut to what comes through it', async () => {
    await serve({ HTTP_TRUSTED_PROXIES: '127.0.0.1', DECK_READ_TOKEN: '', DECK_ADMIN_TOKEN: '' })
    const answer = await api.ask('/runs', { token: null, headers: throughProxy('127.0.0.1') })
    expect(answer.status).toBe(403)
  })
})

describe('with any other', () => {
  it.each([{}, { HTTP_TRUSTED_PROXIES: '192.0.2.1' }])(
    'what it says of addresses is not believed (%j)',
    async (options) => {
      await serve(options)
      expect(await guess(12, (n) => throughProxy(`203.0.113.${n}`))).toEqual([401, 429])
    },
  )
})
