/** `/api/v1`: who may, how often, in which form; what each path does is in its own file. */

import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { problem } from '../problem-of-error.js'
import { sendProblem, type Problem } from '../problem.js'
import { sessionCookie } from '../session.js'
import { addressesOf, createAccess, refuseLoggedOut, refuseWrite, type Caller } from './access.js'
import { addBulkRoutes } from './bulk-routes.js'
import type { ApiContext, ApiServer } from './context.js'
import { documentOptions } from './document.js'
import { addDocumentRoute } from './document-route.js'
import { addEventStream } from './event-stream.js'
import { addJobRoutes } from './job-routes.js'
import { collectMethods } from './other-methods.js'
import { addOutboxRoutes } from './outbox-routes.js'
import { addOverviewRoutes } from './overview-routes.js'
import { addProvisionRoutes } from './provision-routes.js'
import { addQueueRoutes } from './queue-routes.js'
import { createRateKey } from './rate-key.js'
import { addRecordRoutes } from './record-routes.js'
import { refuseOddShapes } from './request-shape.js'
import { addSeriesRoute } from './series-route.js'
import { addTimeLimit } from './time-limit.js'
import { addUndoRoute } from './undo-route.js'

export const apiPrefix = '/api/v1'

export interface ApiLimits {
  /** Requests of one caller (see rate-key.ts) in a minute, to all paths that read, and to each that changes. */
  readonly readsPerMinute: number
  readonly changesPerMinute: number
}

/** A page that reads anew once a second, in a few windows; a script that goes through a list. */
const usualLimits: ApiLimits = { readsPerMinute: 1_200, changesPerMinute: 300 }

export async function addApi(
  root: FastifyInstance,
  context: ApiContext,
  limits: ApiLimits = usualLimits,
): Promise<void> {
  await root.register(
    async (scope) => {
      const app = scope.withTypeProvider<ZodTypeProvider>()
      app.setValidatorCompiler(validatorCompiler)
      // The answers' schemas document; one odd row must not make a whole list fail.
      app.setSerializerCompiler(() => (data) => JSON.stringify(data))
      await app.register(swagger, documentOptions)
      limitChanges(app, limits)
      await app.register(rateLimit, {
        max: limits.readsPerMinute,
        timeWindow: '1 minute',
        keyGenerator: createRateKey(context.config.deck, context.sessions),
      })
      addAccess(app, context)
      refuseOddShapes(app)
      addTimeLimit(app)
      const refuseOtherMethods = collectMethods(app)
      addRoutes(app, context)
      refuseOtherMethods()
    },
    { prefix: apiPrefix },
  )
}

function addRoutes(app: ApiServer, context: ApiContext): void {
  addOverviewRoutes(app, context)
  addSeriesRoute(app, context)
  addEventStream(app, context)
  addProvisionRoutes(app, context)
  addBulkRoutes(app, context)
  addOutboxRoutes(app, context)
  addJobRoutes(app, context)
  addQueueRoutes(app, context)
  addRecordRoutes(app, context)
  addUndoRoute(app, context)
  addDocumentRoute(app)
}

/** Before the rate limit, which looks at each route once, as it is added. */
function limitChanges(app: ApiServer, { changesPerMinute }: ApiLimits): void {
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat()
    if (methods.some(isChange))
      route.config = { ...route.config, rateLimit: { max: changesPerMinute } }
  })
}

/** After the rate limit, so that guessing tokens is counted; before a body is read. */
function addAccess(app: ApiServer, { config, sessions, logouts }: ApiContext): void {
  const access = createAccess({
    what: 'The API',
    tokens: config.deck,
    sessions,
    boundTo: () => addressesOf(app),
  })
  app.decorateRequest('caller')
  app.addHook('preParsing', async (request, reply) => {
    const { headers, cookies } = request
    const credentials = { headers, cookie: cookies[sessionCookie] }
    const answer = await refuseLoggedOut(access(credentials), credentials, logouts)
    if ('refusal' in answer) {
      if (answer.challenge !== undefined) void reply.header('www-authenticate', answer.challenge)
      return sendProblem(reply, answer.refusal)
    }
    request.setDecorator('caller', answer.caller)
    const { allow } = request.routeOptions.config
    if (allow !== undefined) {
      const detail = `${request.method} has no meaning here; allowed are ${allow}.`
      return sendProblem(reply.header('allow', allow), problem(405, detail))
    }
    if (!isChange(request.method)) return undefined
    const refusal =
      refuseWrite(answer.caller, config.deck) ??
      refuseSession(answer.caller) ??
      refuseContentType(request)
    return refusal && sendProblem(reply, refusal)
  })
}

/** What a browser sends by itself with each request must not be enough to change anything (CSRF). */
function refuseSession({ session }: Caller): Problem | undefined {
  if (session === undefined) return undefined
  return problem(403, 'A session only reads here: change by the forms of The Deck, or by a token.')
}

function isChange(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** A form on somebody's page can send anything but this without asking first (CSRF). */
function refuseContentType({ headers }: FastifyRequest): Problem | undefined {
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return undefined
  return problem(415, 'Changes are sent as content-type application/json.')
}
