/**
 * Requests that failed, for the log. A fault of the program is told each time, in full; that the database
 * is away only once in a while for each reason: open pages ask again every second.
 */

import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.js'
import { classifyFailure } from '../postgres/failure-class.js'
import type { Logger } from '../telemetry/logger.js'
import type { Problem } from './problem.js'

/** Often enough to see that an outage goes on. */
const againAfterMs = 60_000

/** `known` is what the client is told; undefined for a fault of the program. */
export type FailureLog = (
  request: FastifyRequest,
  error: unknown,
  known: Problem | undefined,
) => void

/** @param now monotonic milliseconds */
export function createFailureLog(log: Logger, now: () => number): FailureLog {
  const toldAt = new Map<string, number>()
  return (request, error, known) => {
    const { method } = request
    const route = request.routeOptions.url
    if (known === undefined) {
      log.error({ event: 'http failed', method, route, err: error }, 'http failed')
      return
    }
    const reason = error instanceof AppError ? error.code : classifyFailure(error).code
    const at = toldAt.get(reason)
    if (at !== undefined && now() - at < againAfterMs) return
    toldAt.set(reason, now())
    const { status, detail } = known
    log.warn({ event: 'http refused', method, route, status, reason, detail }, 'http refused')
  }
}
