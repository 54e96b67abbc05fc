/** The HTTP server as probes, scrapers and people in a hurry meet it. */

import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load-config.js'
import { AppError } from '../../src/errors.js'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../src/http/server.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { createMetrics } from '../../src/telemetry/metrics.js'

const nothing = { database: false, kafka: false, http: true }
const running: HttpServer[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

function newServer(options: Partial<HttpServerOptions> & { port?: number } = {}) {
  const lines: string[] = []
  const server = createHttpServer({
    config: loadConfig({ HTTP_PORT: String(options.port ?? 0) }, nothing).http,
    loops: [],
    checks: [],
    metrics: createMetrics(),
    now: () => performance.now(),
    log: createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } }),
    ...options,
  })
  running.push(server)
  return { server, logged: () => lines.join('') }
}

async function started(options: Partial<HttpServerOptions> = {}) {
  const { server, logged } = newServer(options)
  const listening = await server.start()
  const address = listening?.address ?? ''
  return { server, address, logged, get: (path: string) => fetch(`${address}${path}`) }
}

describe('the server', () => {
  it('picks a free port for 0 and logs where it listens', async () => {
    const { address, logged } = await started()
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/)
    expect(logged()).toContain(`"event":"http listening","address":"${address}"`)
  })

  it('logs the address as bound, not the loopback of a server that all may reach', async () => {
    const { http } = loadConfig({ HTTP_HOST: '0.0.0.0', HTTP_PORT: '0' }, nothing)
    const { address, logged } = await started({ config: http })
    expect(address).toMatch(/^http:\/\/0\.0\.0\.0:[1-9]\d+$/)
    expect(logged()).toContain(`"address":"${address}"`)
  })

  it('says which port is taken, and what to do', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { server } = newServer({ port })
    const error: unknown = await server.start().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).message).toMatch(
      new RegExp(`^can't listen at 127\\.0\\.0\\.1:${port}: another program .* HTTP_PORT`),
    )
    await server.stop()
    await new Promise((resolve) => void other.close(resolve))
  })

  it('bears being started and stopped twice, and stopped early', async () => {
    const { server, address } = await started()
    expect(await server.start()).toEqual({ address })
    await Promise.all([server.stop(), server.stop()])
    await expect(fetch(address)).rejects.toThrow()

    const { server: early } = newServer()
    await early.stop()
    expect(await early.start()).toBeUndefined()

    const { server: hasty } = newServer()
    const starting = hasty.start()
    await hasty.stop()
    await starting
  })

  it('stops although a client keeps its connection open', async () => {
    const { server, get } = await started()
    await (await get('/healthz')).text()
    await server.stop()
  })

  it('answers unknown paths with a problem, and sets security headers', async () => {
    const { get } = await started()
    const response = await get('/wp-login.php?x=1')
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toMatch('application/problem+json')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(await response.json()).toEqual({
      type: 'about:blank',
      status: 404,
      title: 'Not found',
      detail: 'There is nothing at GET /wp-login.php?x=1',
    })
  })

  it('tells nobody but the log what failed inside', async () => {
    const render = () => Promise.reject(new Error('s3cret inside'))
    const { get, logged } = await started({ metrics: { render } })
    const response = await get('/metrics')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('s3cret')
    expect(logged()).toContain('s3cret inside')
  })

  it('serves the metrics in the text format', async () => {
    const { get } = await started()
    const response = await get('/metrics')
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(await response.text()).toContain('\nmessenger_chat_provision_failed 0\n')
  })
})

describe('/healthz', () => {
  it('is 200 while the loops keep trying, and 503 once one stands still', async () => {
    let ageMs = 300_000
    const loops = [
      { name: 'cycle', lastTryAgeMs: () => ageMs, allowedMs: 300_000 },
      { name: 'relay', lastTryAgeMs: () => 0, allowedMs: 1 },
    ]
    const { get } = await started({ loops })
    expect((await get('/healthz')).status).toBe(200)
    ageMs = 301_000
    const response = await get('/healthz')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      reasons: ['cycle: no try for 301 s, allowed are 300 s'],
    })
  })
})

describe('/readyz', () => {
  it('lists why not, and recovers', async () => {
    const clock = { ms: 0 }
    let away = true
    const { get } = await started({
      now: () => clock.ms,
      checks: [
        { name: 'database', check: () => Promise.resolve(away ? 'it is away' : undefined) },
        { name: 'schema', check: () => Promise.reject(new AppError('SCHEMA_MISSING', 'migrate')) },
        { name: 'broker', check: () => Promise.resolve(undefined) },
        {
          name: 'other',
          check: () => Promise.reject(Object.assign(new Error('s3cret'), { code: 'ECONNRESET' })),
        },
      ],
    })
    const response = await get('/readyz')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      reasons: ['database: it is away', 'schema: migrate', 'other: failed (ECONNRESET)'],
    })
    away = false
    clock.ms = 2_000
    const { reasons } = (await (await get('/readyz')).json()) as { reasons: string[] }
    expect(reasons).toHaveLength(2)
  })

  it('is 200 when all is in order', async () => {
    const { get } = await started()
    expect(await (await get('/readyz')).json()).toEqual({ status: 'ok' })
  })

  it('gives up on a check that does not answer, and runs it once for all who ask', async () => {
    let runs = 0
    const { get } = await started({
      checks: [
        {
          name: 'broker',
          check: (signal) => {
            runs += 1
            return new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('aborted')))
            })
          },
        },
      ],
    })
    const begun = performance.now()
    const responses = await Promise.all(Array.from({ length: 50 }, () => get('/readyz')))
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]))
    expect(await responses[0]?.json()).toMatchObject({
      reasons: ['broker: no answer within 2 s'],
    })
    expect(runs).toBe(1)
  })
})
