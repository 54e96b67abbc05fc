/** The login: by the tokens that the API takes. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { createTokenCheck, hasTokens } from '../../api/access.js'
import { sessionCookie, sessionSeconds } from '../../session.js'
import { readText } from '../../../operations/read-input.js'
import { cookieOptions } from '../cookie-options.js'
import type { DeckContext, DeckServer } from '../context.js'
import { formLimitBytes } from '../form-limit.js'
import { createFormTokens } from '../form-token.js'
import { safeNext } from '../next-path.js'
import { Fault, HiddenValues } from '../parts/form.js'
import { sendPage } from '../send-page.js'
import { inputFault, one, valuesOf, type Values } from '../values.js'
import { sendResume } from './resume.js'

/** What was sent without a session, in the login's own form. */
const carriedPrefix = 'carried.'

/** Far more than anybody mistypes; far too few to guess a token. */
const wrongTokensPerMinute = 10
/** By the address: who has the reader's session may guess the admin's token no more often than others. */
const wrongTokens = {
  max: wrongTokensPerMinute,
  timeWindow: '1 minute',
  keyGenerator: ({ ip }: FastifyRequest): string => ip,
}

const tooManyWrong = `${wrongTokensPerMinute} wrong tokens came from your address within a minute.`

interface LoginView {
  readonly status?: number
  readonly next: string
  /** Of a form that was sent after its session had ended. */
  readonly carried?: Values
  readonly name?: string
  readonly fault?: string
}

export async function sendLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, next, carried = {}, name = '', fault }: LoginView,
): Promise<FastifyReply> {
  return sendPage(
    request,
    reply,
    { status, title: 'Log in', section: undefined },
    <section class="login">
      <h1>Log in</h1>
      <form method="post" action="/deck/login">
        <input type="hidden" name="next" value={safeNext(next)} />
        <HiddenValues values={carried} prefix={carriedPrefix} />
        <div class="field">
          <label>
            <span>Token</span>
            <input
              type="password"
              name="token"
              required
              autofocus
              autocomplete="current-password"
              maxlength="512"
            />
          </label>
        </div>
        <p class="hint">DECK_ADMIN_TOKEN reads and changes, DECK_READ_TOKEN reads.</p>
        <div class="field">
          <label>
            <span>Your name</span>
            <input type="text" name="name" value={name} autocomplete="username" maxlength="100" />
          </label>
        </div>
        <p class="hint">The audit keeps it with what you do.</p>
        <Fault text={fault} />
        <div class="buttons">
          <button class="primary">Log in</button>
        </div>
      </form>
    </section>,
  )
}

export function addLogin(app: DeckServer, { config, sessions, logouts }: DeckContext): void {
  const roleOf = createTokenCheck(config.deck)
  const countWrong = app.createRateLimit(wrongTokens)
  app.get('/login', { config: { isPublic: true } }, (request, reply) => {
    if (!hasTokens(config.deck)) return reply.redirect('/deck', 303)
    return sendLogin(request, reply, { next: one(valuesOf(request.query), 'next') ?? '' })
  })

  app.post(
    '/login',
    {
      // With all that a form held whose session has ended.
      bodyLimit: formLimitBytes,
      config: { isPublic: true },
    },
    async (request, reply) => {
      const values = valuesOf(request.body)
      const next = safeNext(one(values, 'next'))
      const carried = carriedOf(values)
      const name = one(values, 'name')
      const again = (status: number, fault: string) =>
        sendLogin(request, reply, { status, next, carried, fault, ...(name && { name }) })
      const before = await countWrong(request, { increment: false })
      if (!before.isAllowed && before.remaining === 0) {
        // Whatever the token is: else guessing would go on unhindered.
        void reply.header('retry-after', before.ttlInSeconds)
        return again(429, `${tooManyWrong} Try again in ${before.ttlInSeconds} seconds.`)
      }
      const role = roleOf(one(values, 'token') ?? '')
      if (role === undefined) {
        await countWrong(request)
        return again(401, 'This token is not one of DECK_READ_TOKEN and DECK_ADMIN_TOKEN.')
      }
      const fault = name === undefined ? undefined : faultOfName(name)
      if (fault !== undefined) return again(400, fault)
      const session = sessions.seal(role, name)
      void reply.setCookie(sessionCookie, session, {
        ...cookieOptions(request),
        maxAge: sessionSeconds,
      })
      if (Object.keys(carried).length === 0) return reply.redirect(next, 303)
      return sendResume(request, reply, { forms: createFormTokens(session), next, carried })
    },
  )

  app.post('/logout', { config: { isForReaders: true } }, async (request, reply) => {
    const session = request.cookies[sessionCookie]
    // First of all this browser forgets it, whether the database can keep that it is over or not.
    void reply.clearCookie(sessionCookie, cookieOptions(request))
    if (session !== undefined) await logouts.add(session)
    return reply.redirect('/deck/login', 303)
  })
}

function carriedOf(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(carriedPrefix) ? [[name.slice(carriedPrefix.length), value] as const] : [],
    ),
  )
}

function faultOfName(name: string): string | undefined {
  try {
    readText('by', name)
    return undefined
  } catch (error) {
    return inputFault(error)
  }
}
