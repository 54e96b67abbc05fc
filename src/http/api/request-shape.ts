/**
 * What no path of the API takes, refused before its own schema is asked: something in the query where
 * there is nothing to say (a `?dryRun=true` would be passed over, and the change made), the same name
 * twice, and a body nested deeper than anything here can be.
 */

import type { FastifyRequest } from 'fastify'
import { problem } from '../problem-of-error.js'
import { sendProblem, type Problem } from '../problem.js'
import type { ApiServer } from './context.js'

/** A job's payload may be 500 deep, and lies in the body; recursion ends some thousands deeper. */
const depthAtMost = 510
/** Of a name that was made up. */
const shownAtMost = 40

export function refuseOddShapes(app: ApiServer): void {
  app.addHook('preValidation', async (request, reply) => {
    const refusal = ofQuery(request) ?? ofBody(request.body)
    return refusal && sendProblem(reply, refusal)
  })
}

function ofQuery({ query, routeOptions }: FastifyRequest): Problem | undefined {
  const given = Object.entries(query as Record<string, unknown>)
  const [first] = given
  if (first === undefined) return undefined
  const shown = (name: string): string => JSON.stringify(name.slice(0, shownAtMost))
  const { querystring } = (routeOptions.schema ?? {}) as { readonly querystring?: unknown }
  if (querystring === undefined) {
    return problem(400, `This path takes no query, and ${shown(first[0])} is one.`)
  }
  const twice = given.find(([, value]) => Array.isArray(value))
  return twice && problem(400, `${shown(twice[0])} is given more than once. Give it once.`)
}

function ofBody(body: unknown): Problem | undefined {
  if (!isDeeperThan(body, depthAtMost)) return undefined
  return problem(400, `The body is nested more than ${depthAtMost} levels deep.`)
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((item) => isDeeperThan(item, levels - 1))
}
