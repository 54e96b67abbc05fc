/**
 * Ends requests that take too long. fastify's own handlerTimeout is called off as soon as a body has
 * been read, and so never ends a change.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { longestTimerMs } from '../../timers.js'
import { problem } from '../problem-of-error.js'
import { sendProblem, type Problem } from '../problem.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Other than the usual; Infinity for an answer that goes on. */
    readonly timeoutMs?: number
  }
}

/** What takes longer has hung; a statement that reads is ended before by the server. */
const usualTimeoutMs = 10_000

const tooLong =
  'It took too long and was given up; what was done until then stays done. ' +
  'Look at /readyz, then send the same again: it goes on from there.'

/** @param refuse tells whoever waits that it was given up */
export function addTimeLimit(
  app: Pick<FastifyInstance, 'addHook' | 'decorateRequest'>,
  refuse: (reply: FastifyReply, problem: Problem, request: FastifyRequest) => unknown = sendProblem,
): void {
  app.decorateRequest('abandoned')
  // From when the request has arrived whole; until then the server's own limit holds.
  app.addHook('preValidation', (request, reply, done) => {
    const { timeoutMs = usualTimeoutMs } = request.routeOptions.config
    const abandoned = new AbortController()
    request.setDecorator('abandoned', abandoned.signal)
    const giveUp = (): void => {
      abandoned.abort()
      if (!reply.sent) refuse(reply, problem(503, tooLong), request)
    }
    const timer = timeoutMs <= longestTimerMs ? setTimeout(giveUp, timeoutMs) : undefined
    const end = (): void => {
      clearTimeout(timer)
      abandoned.abort()
    }
    if (reply.raw.closed) end()
    else reply.raw.once('close', end)
    done()
  })
}

/** Aborts when nobody waits for the answer any more. */
export function abandoned(request: FastifyRequest): AbortSignal {
  return request.getDecorator<AbortSignal>('abandoned')
}
