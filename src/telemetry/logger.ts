/** The log: pino's JSON lines on stderr (stdout is for data), without secrets or personal data. */

import { pino, stdTimeFunctions, type DestinationStream, type Logger as PinoLogger } from 'pino'
import type { LogLevel } from '../config/config.js'
import { describeError } from './describe-error.js'
import { isSecretField, redacted, redactJsonLine } from './redact.js'

export type Logger = PinoLogger

interface LoggerOptions {
  readonly level: LogLevel
  /** A sink for tests; stderr otherwise. */
  readonly destination?: DestinationStream
}

/** Log objects are flat by intention; what is nested deeper was logged by mistake. */
const maxDepth = 6

/**
 * Writes synchronously: at a few lines a second it costs nothing, and the lines just before an exit,
 * which are the ones that matter, are never lost.
 */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      // A child's bindings bypass formatters.log; only names at the top can occur there.
      redact: { paths: ['title', 'members', 'password', 'token'], censor: redacted },
      formatters: { log: (fields) => redactFields(fields, 0) as Record<string, unknown> },
      // pino's own would take the description for an error and describe it again.
      serializers: { err: (error: unknown) => describeError(error) },
      // Last of all the finished line: messages and bindings go through no formatter.
      hooks: { streamWrite: redactJsonLine },
    },
    destination ?? pino.destination({ fd: process.stderr.fd, sync: true }),
  )
}

function redactFields(value: unknown, depth: number): unknown {
  if (value instanceof Error) return describeError(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === maxDepth) return '[deeper]'
  if (Array.isArray(value)) return value.map((item) => redactFields(item, depth + 1))
  if (!isPlain(value) || isHarmless(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      isSecretField(name) ? redacted : redactFields(field, depth + 1),
    ]),
  )
}

/** As nearly all that is logged: a few fields with plain values, none with the name of a secret. */
function isHarmless(fields: object): boolean {
  for (const name in fields) {
    if (isSecretField(name)) return false
    const field: unknown = fields[name as keyof typeof fields]
    if (typeof field === 'object' && field !== null) return false
  }
  return true
}

/** Instances of classes are left to pino: they have a toJSON or a serializer, or are logged by mistake. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
