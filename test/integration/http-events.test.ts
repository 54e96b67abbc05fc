/** Live changes for open pages: told soon, shared, bounded, and no hindrance to a stop. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChangeWatch } from '../../src/http/api/change-watch.js'
import { createFormTokens, newFormId } from '../../src/http/deck/form-token.js'
import { createSessions, sessionCookie } from '../../src/http/session.js'
import { createDatabase } from '../../src/postgres/connect.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { adminToken, readToken, seedEvent, serveApi, type ServedApi } from './http-api-fixtures.js'

const database = useTestDatabase()

interface OpenStream {
  readonly status: number
  readonly headers: Headers
  readonly seen: () => string
  /** Resolves once the server has ended it. */
  readonly ended: Promise<void>
  readonly close: () => void
}

async function open(
  api: ServedApi,
  token = readToken,
  credentials: Readonly<Record<string, string>> = { authorization: `Bearer ${token}` },
): Promise<OpenStream> {
  const abort = new AbortController()
  const response = await fetch(`${api.address}/api/v1/events`, {
    headers: credentials,
    signal: abort.signal,
  })
  let text = ''
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array)
  }
  return {
    status: response.status,
    headers: response.headers,
    seen: () => text,
    ended: read().catch(() => undefined),
    close: () => abort.abort(),
  }
}

const resources = ['provisions', 'outbox', 'jobs', 'queues', 'runs'] as const

function count({ seen }: OpenStream, resource: (typeof resources)[number]): number {
  return seen().split(`event: ${resource}\ndata: {}\n\n`).length - 1
}

/** Opens streams and waits for the first look, which tells everything. */
async function openWatched(api: ServedApi, streams: number): Promise<OpenStream[]> {
  const all = await Promise.all(Array.from({ length: streams }, () => open(api)))
  await waitFor('the first look', () => resources.every((name) => count(mustBe(all[0]), name) > 0))
  return all
}

function mustBe<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is none')
  return value
}

describe('the stream of events', () => {
  let api: ServedApi
  beforeAll(async () => {
    api = await serveApi(database())
  })
  afterAll(() => api.app.stop())

  it('is one of server-sent events, told at once that it is open', async () => {
    const stream = await open(api)
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.headers.get('cache-control')).toBe('no-store')
    await waitFor('the first line', () => stream.seen().startsWith('retry: 3000\n\n'))
    stream.close()
  })

  it('tells each resource that others have changed', async () => {
    const streams = await openWatched(api, 2)
    const told = (resource: (typeof resources)[number]) => {
      const before = streams.map((stream) => count(stream, resource))
      return waitFor(resource, () =>
        streams.every((stream, n) => count(stream, resource) > (before[n] ?? 0)),
      )
    }
    await Promise.all([told('outbox'), seedEvent(database())])
    await Promise.all([told('provisions'), seedDeal(database().admin)])
    const run = `insert into messenger.chat_provision_runs (id, started_at, as_of, host)
      values (gen_random_uuid(), now() + interval '1 second', now(), 'other')`
    await Promise.all([told('runs'), database().query(run)])
    const queue = `insert into chokaq.queues (name, paused) values ('x', true)`
    await Promise.all([told('queues'), database().query(queue)])
    for (const stream of streams) stream.close()
  })

  it('tells at once what this process does', async () => {
    const stream = mustBe((await openWatched(api, 1))[0])
    const change = { paused: true, reason: 'a test' }
    const queues = count(stream, 'queues')
    await api.ask('/queues/operations', { method: 'PATCH', body: change })
    await waitFor('queues', () => count(stream, 'queues') > queues)
    await seedDeal(database().admin, { attempts: 10 })
    const jobs = count(stream, 'jobs')
    await api.post('/provisions/requeue', { filter: { poison: true }, reason: 'a test' })
    await waitFor('jobs', () => count(stream, 'jobs') > jobs)
    stream.close()
  })

  it('is bounded for each token and session, and one who has all of theirs leaves some', async () => {
    const streams = await Promise.all(Array.from({ length: 11 }, () => open(api)))
    const [refused, ...others] = streams.filter(({ status }) => status !== 200)
    expect([refused?.status, others]).toEqual([429, []])
    await waitFor('why', () => refused?.seen().includes('You have 10 streams open'))
    const another = await open(api, adminToken)
    expect(another.status).toBe(200)
    for (const stream of [...streams, another]) stream.close()
    await waitFor('a place', async () => {
      const stream = await open(api)
      stream.close()
      return stream.status === 200
    })
  })

  it('is bounded', async () => {
    const sessions = createSessions({ readToken, adminToken })
    const streams = await Promise.all(
      Array.from({ length: 51 }, (_, n) => {
        const session = sessions.seal('admin', `admin ${n % 6}`)
        return open(api, adminToken, { cookie: `${sessionCookie}=${session}` })
      }),
    )
    const full = streams.filter(({ status }) => status === 503)
    expect(full).toHaveLength(1)
    expect(full[0]?.headers.get('retry-after')).toBe('10')
    await waitFor('why', () => full[0]?.seen().includes('50 streams are open'))
    for (const stream of streams) stream.close()
    await waitFor('a place', async () => {
      const stream = await open(api)
      stream.close()
      return stream.status === 200
    })
  })

  it('has some left for others, however often a reader logs in', async () => {
    const sessions = createSessions({ readToken, adminToken })
    const streams = await Promise.all(
      Array.from({ length: 25 }, (_, n) => {
        const session = sessions.seal('reader', `reader ${n % 5}`)
        return open(api, readToken, { cookie: `${sessionCookie}=${session}` })
      }),
    )
    const refused = streams.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(5)
    await waitFor('why', () => refused[0]?.seen().includes('at your address have 20 streams open'))
    const admin = await open(api, adminToken)
    expect(admin.status).toBe(200)
    for (const stream of [...streams, admin]) stream.close()
  })

  it('ends with its session, logged out on another instance, and not with that of others', async () => {
    const other = await serveApi(database())
    const sessions = createSessions({ readToken, adminToken })
    const cookies = ['anna', 'boris'].map((name) => sessions.seal('admin', name))
    const [anna, boris] = await Promise.all(
      cookies.map((text) => open(api, adminToken, { cookie: `${sessionCookie}=${text}` })),
    )
    expect([anna?.status, boris?.status]).toEqual([200, 200])
    const cookie = `${sessionCookie}=${mustBe(cookies[0])}`
    const forms = createFormTokens(mustBe(cookies[0]))
    const { status } = await fetch(`${other.address}/deck/logout`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ formToken: forms.issue(newFormId()) }),
    })
    expect(status).toBe(303)
    let isBorisOver = false
    void boris?.ended.then(() => (isBorisOver = true))
    await anna?.ended
    expect(isBorisOver).toBe(false)
    boris?.close()
    await other.app.stop()
  })

  it('takes a token', async () => {
    expect((await open(api, `${adminToken}x`)).status).toBe(401)
  })
})

it('ends with the service, within its grace', async () => {
  const api = await serveApi(database(), { DECK_READ_TOKEN: readToken, SHUTDOWN_GRACE: '5s' })
  const streams = [await open(api), await open(api)]
  const begun = performance.now()
  await Promise.all([api.app.stop(), ...streams.map(({ ended }) => ended)])
  expect(performance.now() - begun).toBeLessThan(5_000)
})

describe('the watch', () => {
  it('looks once for all pages, again and again, and not at all for none', async () => {
    const db = createDatabase({
      connectionString: database().url,
      applicationName: 'watch-test',
      max: 1,
      onConnectionLost: () => undefined,
    })
    const log = createLogger({ level: 'silent' })
    const events = { subscribe: () => () => undefined }
    const createCounted = () => {
      const counted = { looks: 0 }
      const transaction = (): ReturnType<typeof db.transaction> => {
        counted.looks += 1
        return db.transaction()
      }
      const watch = createChangeWatch({ db: { transaction } as unknown as typeof db, events, log })
      return { counted, watch }
    }
    const { counted, watch } = createCounted()
    const seen: string[] = []
    const ends = Array.from({ length: 20 }, () => watch.subscribe((name) => seen.push(name)))
    await waitFor('two looks', () => counted.looks === 2)
    // The first look tells each of them of everything, a later one all of them of the same.
    const first = seen.slice(0, 20 * resources.length)
    expect(resources.map((name) => first.filter((told) => told === name))).toEqual(
      resources.map((name) => Array<string>(20).fill(name)),
    )
    expect(seen.length % 20).toBe(0)
    for (const end of ends) end()
    const last = counted.looks
    // One that somebody is interested in tells how the time goes: this one would look as often.
    const other = createCounted()
    const end = other.watch.subscribe(() => undefined)
    await waitFor('three looks of another', () => other.counted.looks === 3)
    end()
    expect(counted.looks).toBe(last)
    await db.destroy()
  })
})
