/** Errors over HTTP: one form for all of them, RFC 9457. */

import type { FastifyReply } from 'fastify'

interface Problem {
  readonly status: number
  readonly title: string
  /** One line that helps; nothing about the inside of the service. */
  readonly detail?: string
  readonly reasons?: readonly string[]
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .send({ type: 'about:blank', ...problem })
}
