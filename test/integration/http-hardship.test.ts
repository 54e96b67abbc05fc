/** The service while its database is frozen, and the API under too many requests. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { createSessions, sessionCookie } from '../../src/http/session.js'
import { adminToken, readToken, serveApi, tokens, type ServedApi } from './http-api-fixtures.js'

const database = useTestDatabase()

/** Above the looks' own limits of 3 seconds; without them it would be for ever. */
const boundMs = 6_000
const fifty = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 50 }, work))

describe('a frozen database', () => {
  let api: ServedApi
  let proxy: TcpProxy
  beforeAll(async () => {
    const url = new URL(database().url)
    proxy = await startTcpProxy({ target: Number(url.port) })
    url.port = String(proxy.port)
    api = await serveApi(database(), { ...tokens, DATABASE_URL: url.href })
    await seedDeal(database().admin, { attempts: 10 })
    await waitFor('the row in the overview', async () => {
      const { provisions } = (await api.ask('/summary')).body as unknown as Summary
      return provisions.poison === 1
    })
    await scrape()
    proxy.pauseResponses()
  })
  afterAll(async () => {
    proxy.resume()
    await api.app.stop()
    await proxy.stop()
  })

  async function scrape(): Promise<string> {
    return (await fetch(`${api.address}/metrics`)).text()
  }

  async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; answers: T[] }> {
    const begun = performance.now()
    const answers = await fifty(work)
    return { ms: performance.now() - begun, answers }
  }

  it('50 scrapes at once end in bounded time, with the last values and their age', async () => {
    await waitFor('the last look to be no longer fresh', async () => age(await scrape()) > 5)
    const { ms, answers } = await timed(scrape)
    expect(ms).toBeLessThan(boundMs)
    for (const text of answers) {
      expect(text).toContain('\nmessenger_chat_provision_poison 1\n')
      expect(age(text)).toBeGreaterThan(5)
    }
  })

  it('50 overviews at once likewise', async () => {
    const { ms, answers } = await timed(() => api.ask('/summary'))
    expect(ms).toBeLessThan(boundMs)
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ isCurrent: false, provisions: { poison: 1 } })
      expect(Number(body['ageSeconds'])).toBeGreaterThan(5)
    }
  })

  it('50 lists at once are refused in bounded time, and nobody waits for those', async () => {
    const { ms, answers } = await timed(() => api.ask('/provisions'))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    // The request's own limit of 10 seconds.
    expect(ms).toBeLessThan(15_000)
    const begun = performance.now()
    expect((await api.ask('/settings')).status).toBe(200)
    expect(performance.now() - begun).toBeLessThan(1_000)
  })

  it('changes are refused in bounded time', async () => {
    const body = { paused: true, reason: 'a test' }
    const { status } = await api.ask('/queues/operations', { method: 'PATCH', body })
    expect(status).toBe(503)
  })

  it('a hundred refusals are a few lines in the log: one for each reason, none a fault', async () => {
    await fifty(() => api.ask('/runs'))
    const refused = api
      .logged()
      .split('\n')
      .filter((line) => line.includes('"event":"http refused"'))
      .map((line) => String((JSON.parse(line) as { reason: unknown }).reason))
    expect(refused).toContain('CONNECTION_LOST')
    expect(refused.length).toBeLessThan(10)
    expect(api.logged()).not.toContain('"event":"http failed"')
  })
})

interface Summary {
  readonly provisions: { readonly poison: number }
}

function age(metrics: string): number {
  return Number(/\nmessenger_chat_provision_database_look_age_seconds (\S+)\n/.exec(metrics)?.[1])
}

describe('too many requests', () => {
  it('are refused until the minute is over; probes and scrapes are not counted', async () => {
    const limits = { readsPerMinute: 5, changesPerMinute: 2 }
    const api = await serveApi(database(), tokens, limits)
    const statusesOf = async (tokens: readonly string[]) => {
      const statuses: number[] = []
      for (const token of tokens) statuses.push((await api.ask('/runs', { token })).status)
      return statuses
    }
    // Guesses are counted by address, whatever the token, and take nothing from those that have one.
    expect(await statusesOf(['a', 'b', 'c', 'd', 'e', 'f'])).toEqual([401, 401, 401, 401, 401, 429])
    const often = Array<string>(6).fill(readToken)
    expect(await statusesOf(often)).toEqual([200, 200, 200, 200, 200, 429])
    const browser = createSessions({ readToken, adminToken })
    const cookie = `${sessionCookie}=${browser.seal('reader', 'ann')}`
    expect((await api.ask('/runs', { token: null, headers: { cookie } })).status).toBe(200)
    const forged = await api.ask('/runs', { token: null, headers: { cookie: `${cookie}x` } })
    expect(forged.status).toBe(429)
    expect(await statusesOf([adminToken])).toEqual([200])
    const refused = await api.ask('/audit', { token: readToken })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.body.detail).toMatch(/retry in/)
    for (let n = 0; n < 10; n += 1) {
      expect((await fetch(`${api.address}/healthz`)).status).toBe(200)
    }
    const body = { maxWorkers: 3, reason: 'a test' }
    const change = () => api.ask('/queues/operations', { method: 'PATCH', body })
    expect((await change()).status).toBe(200)
    expect((await change()).status).toBe(200)
    expect((await change()).status).toBe(429)
    await api.app.stop()
  })
})
