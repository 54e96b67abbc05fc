/** What an error is for whoever sent the request: a status, and one line that helps. */

import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { ChokaqError, type ChokaqErrorCode } from '../chokaq/index.js'
import { AppError, type ErrorCode } from '../errors.js'
import { classifyFailure } from '../postgres/failure-class.js'
import type { Problem } from './problem.js'

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timed out',
  409: 'Conflict',
  413: 'Body too large',
  414: 'URL too long',
  415: 'Unsupported media type',
  422: 'Too many',
  429: 'Too many requests',
  431: 'Headers too large',
  503: 'Not available now',
}

export function problem(status: number, detail: string): Problem {
  return { status, title: titles[status] ?? 'Bad request', detail }
}

const statusOfAppError: Readonly<Record<ErrorCode, number>> = {
  CONFIG_INVALID: 503,
  // What can't be done with these options: replaying where Debezium relays.
  USAGE: 409,
  NOT_FOUND: 404,
  INPUT_INVALID: 400,
  UNDER_WAY: 409,
  TOO_MANY: 422,
  SCHEMA_MISSING: 503,
  SCHEMA_OUTDATED: 503,
  SCHEMA_TOO_NEW: 503,
  REFERENCE_TABLE_MISSING: 503,
  REFERENCE_TABLE_UNFIT: 503,
  NOT_PERMITTED: 503,
  POOLER_DETECTED: 503,
  DATABASE_UNAVAILABLE: 503,
  OUTPUT_UNWRITABLE: 503,
  BROKER_UNAVAILABLE: 503,
}

/** All others are 400: input that the retry core refuses. */
const statusOfChokaqError: Partial<Readonly<Record<ChokaqErrorCode, number>>> = {
  PAYLOAD_TOO_LARGE: 413,
  QUEUE_CHANGED: 409,
  STORAGE_FULL: 503,
}

/** More faults in one request are told as a number. */
const faultsTold = 5

/** Undefined for a fault of the program, which is nobody's business but the log's. */
export function problemOfError(error: unknown): Problem | undefined {
  if (hasZodFastifySchemaValidationErrors(error)) return problem(400, faults(error.validation))
  if (error instanceof AppError) return problem(statusOfAppError[error.code], error.message)
  if (error instanceof ChokaqError) {
    return problem(statusOfChokaqError[error.code] ?? 400, error.message)
  }
  const { statusCode, code, message } = error as {
    statusCode?: unknown
    code?: unknown
    message?: unknown
  }
  if (code === 'FST_ERR_HANDLER_TIMEOUT') {
    return problem(503, 'It took too long and was given up. Look at /readyz, and try again.')
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return problem(statusCode, String(message))
  }
  const failure = classifyFailure(error)
  if (failure.class === 'infrastructure') {
    return problem(503, `The database can't be used (${failure.code}). Look at /readyz.`)
  }
  if (failure.class === 'contention') {
    return problem(503, `The database was too busy for it (${failure.code}). Try again.`)
  }
  return undefined
}

interface Fault {
  readonly instancePath: string
  readonly message?: string | undefined
}

function faults(all: readonly Fault[]): string {
  // One field may break several of its rules, which are told in the same words.
  const texts = all.map(({ instancePath, message = 'it is not allowed' }) => {
    const where = instancePath.slice(1).replaceAll('/', '.')
    return where === '' ? message : `${where}: ${message}`
  })
  const different = [...new Set(texts)]
  const told = different.slice(0, faultsTold)
  const more = different.length - told.length
  return more > 0 ? `${told.join('; ')}; and ${more} more` : told.join('; ')
}
