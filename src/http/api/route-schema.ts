/** How a route tells the document, and the validation, what it takes and what it answers. */

import type { z } from 'zod'
import { changeHeaders } from './idempotency.js'
import { problem } from './schemas/answers.js'

const problemType = 'application/problem+json'

const meanings = {
  400: 'The request is not one: the detail says what to change.',
  401: 'No token, or one that is not known.',
  403: 'This caller may not do this.',
  404: 'There is no such thing, or the API is off.',
  409: 'It can not be done with the thing as it stands, or the first of its Idempotency-Key is under way.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'More is meant than may be done at once, or the Idempotency-Key came before with another body: nothing was done.',
  429: 'Too many requests: wait as long as Retry-After says.',
  500: 'A fault of the service; its log says more.',
  503: 'The database did not answer, or not in time.',
} as const

type ProblemStatus = keyof typeof meanings

const ofAll: readonly ProblemStatus[] = [400, 401, 403, 404, 429, 500, 503]
const ofWrites: readonly ProblemStatus[] = [409, 413, 415, 422]

interface RouteDescription {
  readonly id: string
  readonly tag: 'overview' | 'provisions' | 'outbox' | 'jobs' | 'records'
  readonly summary: string
  readonly description?: string
  readonly params?: z.ZodType
  readonly querystring?: z.ZodType
  readonly body?: z.ZodType
  /** By status. */
  readonly answers: Readonly<
    Record<number, { readonly about: string; readonly schema: z.ZodType; readonly type?: string }>
  >
  readonly problems?: readonly ProblemStatus[]
}

type Inputs<D> = Pick<D, Extract<keyof D, 'params' | 'querystring' | 'body'>>

/** Only the inputs keep their types: answers are held to theirs by the tests, not at run time. */
export function routeSchema<const D extends RouteDescription>(
  route: D,
): Inputs<D> & { readonly response: object } {
  const { id, tag, answers, problems = [], ...rest } = route
  const statuses = [...ofAll, ...(route.body === undefined ? [] : ofWrites), ...problems]
  const response = {
    ...Object.fromEntries(
      Object.entries(answers).map(([status, { about, schema, type = 'application/json' }]) => [
        status,
        { description: about, content: { [type]: { schema } } },
      ]),
    ),
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        { description: meanings[status], content: { [problemType]: { schema: problem } } },
      ]),
    ),
  }
  const headers = route.body === undefined ? {} : { headers: changeHeaders }
  return { ...rest, ...headers, operationId: id, tags: [tag], response } as never
}
