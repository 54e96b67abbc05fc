/** The HTTP side: health, readiness and metrics, open to all, the API and The Deck for those who may. */

import type { AddressInfo } from 'node:net'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'
import type { Config } from '../config/config.js'
import type { Logger } from '../telemetry/logger.js'
import type { Metrics } from '../telemetry/metrics.js'
import { addApi, type ApiLimits } from './api/api.js'
import type { ApiContext } from './api/context.js'
import { addDeck, isOfDeck } from './deck/deck.js'
import { sendBareErrorPage } from './deck/pages/error.js'
import { createFailureLog } from './failure-log.js'
import { explainListenFailure } from './listen-failure.js'
import { stalledLoops, type WatchedLoop } from './liveness.js'
import { problem, problemOfError } from './problem-of-error.js'
import { sendProblem, type Problem } from './problem.js'
import { createReadiness, type ReadinessCheck } from './readiness.js'
import { refuseUnreadable } from './unreadable-request.js'

export interface HttpServerOptions {
  readonly config: Config['http']
  readonly loops: readonly WatchedLoop[]
  readonly checks: readonly ReadinessCheck[]
  readonly metrics: Pick<Metrics, 'render'>
  /** Absent: health, readiness and metrics only. */
  readonly api?: ApiContext | undefined
  /** The usual ones where nothing is said. */
  readonly limits?: ApiLimits | undefined
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export interface HttpServer {
  /**
   * Resolves once it listens, with the address as a URL; undefined if it was stopped before.
   * @throws AppError CONFIG_INVALID where the address can't be had
   */
  start(): Promise<{ readonly address: string } | undefined>
  /** Answers what is under way, then closes every connection. */
  stop(): Promise<void>
}

/** A reason and some ids; routes that take more say so. */
const bodyLimitBytes = 64 * 1024
/** A request that has not arrived whole by then is no request; looked for every so often. */
const requestTimeoutMs = 10_000
const requestLookMs = 1_000
/** Node refuses headers, the URL among them, of more. */
const maxUrlLength = 16 * 1024
/** Of an address that is none, as much as somebody wants to read. */
const detailAtMost = 200
/** Answers take milliseconds; a client that reads no faster than this has no claim on the stop. */
const drainMs = 1_500

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log } = options
  const { host, port } = options.config
  let app: FastifyInstance | undefined
  let starting: Promise<{ readonly address: string } | undefined> | undefined
  let stopping: Promise<void> | undefined

  async function listen(): Promise<{ readonly address: string } | undefined> {
    app = await createApp(options)
    if (stopping !== undefined) return undefined
    try {
      await app.listen({ host, port })
      const address = urlOf(app.server.address() as AddressInfo)
      log.info({ event: 'http listening', address }, 'http listening')
      return { address }
    } catch (error) {
      throw explainListenFailure(error, options.config)
    }
  }

  async function close(): Promise<void> {
    // A start that failed has told so itself.
    await starting?.catch(() => undefined)
    if (app === undefined) return
    const { server } = app
    const timer = setTimeout(() => server.closeAllConnections(), drainMs)
    await app.close().finally(() => clearTimeout(timer))
  }

  return {
    start: () => (starting ??= stopping === undefined ? listen() : Promise.resolve(undefined)),
    stop: () => (stopping ??= close()),
  }
}

async function createApp(options: HttpServerOptions): Promise<FastifyInstance> {
  const { loops, checks, metrics, log, now, api, limits } = options
  const { trustedProxies } = options.config
  const readiness = createReadiness(checks, now)
  const app = fastify({
    // Probes and scrapes every few seconds are no news; what fails is logged below.
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    // Node takes the longer of the two for the body, whichever it is; its own for headers is a minute.
    http: { connectionsCheckingInterval: requestLookMs, headersTimeout: requestTimeoutMs },
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // The schemas say how long a parameter may be, and answer in words; Node's limit on a URL is the last.
    routerOptions: { maxParamLength: maxUrlLength },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket),
    frameworkErrors: (error, request, reply) => {
      const what = problem(error.statusCode ?? 400, error.message.slice(0, detailAtMost))
      void (isOfDeck(request.url) ? sendBareErrorPage(reply, what) : sendProblem(reply, what))
    },
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.remoteAddress !== undefined) {
      done()
      return
    }
    // Whoever asked is gone already; without an address the request can't even be counted.
    reply.hijack()
    request.raw.destroy()
  })
  await app.register(helmet, {
    // TLS ends in front of this server, if anywhere: the two would send browsers to a port that isn't.
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  })
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
  })

  app.get('/healthz', (_request, reply) => {
    const reasons = stalledLoops(loops)
    if (reasons.length === 0) return reply.send({ status: 'ok' })
    return sendProblem(reply, { status: 503, title: 'A loop stands still', reasons })
  })
  app.get('/readyz', async (_request, reply) => {
    const reasons = await readiness()
    if (reasons.length === 0) return reply.send({ status: 'ok' })
    return sendProblem(reply, { status: 503, title: 'Not ready', reasons })
  })
  app.get('/metrics', async (_request, reply) => {
    const { contentType, body } = await metrics.render()
    return reply.type(contentType).send(body)
  })

  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      reply,
      problem(404, `There is nothing at ${request.method} ${request.url.slice(0, detailAtMost)}`),
    ),
  )
  const logFailure = createFailureLog(log, now)
  app.setErrorHandler((error, request, reply) => {
    const known = problemOfError(error)
    if (known === undefined || known.status >= 500) logFailure(request, error, known)
    return sendProblem(reply, known ?? fault)
  })
  if (api === undefined) return app
  app.get('/', (_request, reply) => reply.redirect('/deck', 302))
  await app.register(cookie)
  await addApi(app, api, limits)
  await addDeck(app, { ...api, readiness, logFailure }, limits)
  return app
}

/** As bound: fastify itself would name loopback where it listens to all the world. */
function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

const fault: Problem = {
  status: 500,
  title: 'Internal error',
  detail: 'The log of the service says more.',
}
