/** Errors over HTTP: one form for all of them, RFC 9457. */

import type { FastifyReply } from 'fastify'

export interface Problem {
  readonly status: number
  readonly title: string
  /** One line that helps; nothing about the inside of the service. */
  readonly detail?: string
  /** Where a program has to tell cases of one status apart. */
  readonly code?: string
  readonly reasons?: readonly string[]
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return (
    reply
      .code(problem.status)
      .type('application/problem+json')
      // As text: the schemas of a route's answers have no say in it.
      .serializer((body: unknown) => JSON.stringify(body))
      .send({ type: 'about:blank', ...problem })
  )
}
