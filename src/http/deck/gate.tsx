/**
 * Who gets into The Deck, and whose forms are taken. A browser that may not is led to the login and
 * back; what it had sent is carried along, so that nothing typed is lost.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  addressesOf,
  createAccess,
  hasTokens,
  refuseLoggedOut,
  refuseWrite,
  type Caller,
} from '../api/access.js'
import { problem } from '../problem-of-error.js'
import { sessionCookie } from '../session.js'
import type { DeckContext, DeckServer, Visitor } from './context.js'
import { cookieOptions } from './cookie-options.js'
import {
  createFormTokens,
  formTokenField,
  isFromElsewhere,
  newVisitorSecret,
  visitorCookie,
} from './form-token.js'
import { loginHref } from './next-path.js'
import { sendErrorPage } from './pages/error.js'
import { sendLogin } from './pages/login.js'
import { sendResume } from './pages/resume.js'
import { visitorIfAny } from './send-page.js'
import { one, valuesOf } from './values.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of The Deck: shown to whoever asks, such as the login itself. */
    readonly isPublic?: boolean
    /** Of The Deck: a form that readers may send too, for it changes nothing but what is theirs. */
    readonly isForReaders?: boolean
  }
}

export function addGate(app: DeckServer, { config, sessions, logouts }: DeckContext): void {
  const tokens = config.deck
  const access = createAccess({
    ...{ what: 'The Deck', tokens, sessions },
    boundTo: () => addressesOf(app),
  })
  const letIn = (request: FastifyRequest, reply: FastifyReply, caller: Caller): void => {
    const visitor: Visitor = {
      caller,
      canChange: refuseWrite(caller, tokens) === undefined,
      hasLogin: hasTokens(tokens),
      forms: createFormTokens(secretOf(request, reply, caller)),
    }
    request.setDecorator('visitor', visitor)
  }

  app.decorateRequest('visitor')
  // Before requests are counted: what another page sends must not use up what this browser may.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 || !isChange(request) || !isFromElsewhere(request.headers)) return undefined
    return sendErrorPage(request, reply, problem(403, 'Another page has sent this form.'))
  })
  app.addHook('preParsing', async (request, reply) => {
    if (request.routeOptions.config.isPublic === true) return undefined
    const { headers, cookies } = request
    const credentials = { headers, cookie: cookies[sessionCookie] }
    if (request.is404) {
      // Told to whoever asks, with the way on for those who are in.
      const answer = await refuseLoggedOut(access(credentials), credentials, logouts)
      if ('caller' in answer) letIn(request, reply, answer.caller)
      return undefined
    }
    const { allow, isForReaders = false } = request.routeOptions.config
    if (allow !== undefined) {
      const detail = `${request.method} has no meaning here; allowed are ${allow}.`
      return sendErrorPage(request, reply.header('allow', allow), problem(405, detail))
    }
    const answer = await refuseLoggedOut(access(credentials), credentials, logouts)
    if ('caller' in answer) {
      letIn(request, reply, answer.caller)
      if (!isChange(request) || isForReaders) return undefined
      const refusal = refuseWrite(answer.caller, tokens)
      return refusal && sendErrorPage(request, reply, refusal)
    }
    if (answer.challenge === undefined) return sendErrorPage(request, reply, answer.refusal)
    // A form is read first: what it holds goes along.
    return isChange(request) ? undefined : reply.redirect(loginHref(request.url), 303)
  })
  app.addHook('preHandler', async (request, reply) => {
    if (request.is404 || !isChange(request)) return undefined
    if (request.routeOptions.config.isPublic === true) return undefined
    const visitor = visitorIfAny(request)
    const carried = valuesOf(request.body)
    if (visitor === undefined) {
      const fault = 'Your session has ended. Log in again: what you have typed is kept.'
      return sendLogin(request, reply, { status: 401, next: request.url, carried, fault })
    }
    if (visitor.forms.read(one(carried, formTokenField)) !== undefined) return undefined
    const { forms } = visitor
    return sendResume(request, reply, { status: 403, forms, next: request.url, carried })
  })
}

function isChange({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** What no other page knows: the session's cookie, or one made for whoever needs no session. */
function secretOf(request: FastifyRequest, reply: FastifyReply, { session }: Caller): string {
  const name = session === undefined ? visitorCookie : sessionCookie
  const known = request.cookies[name]
  if (known !== undefined && known.length >= 43) return known
  const secret = newVisitorSecret()
  void reply.setCookie(visitorCookie, secret, cookieOptions(request))
  return secret
}
