/**
 * The errors that a person is meant to read, and the one table of their codes.
 * Everything else that is thrown is a fault of the program and keeps its own type.
 */

/** Exit codes of the command line: 1 the work failed, 2 wrong use or configuration. */
const errorCodes = {
  CONFIG_INVALID: { exitCode: 2, retryable: false },
  USAGE: { exitCode: 2, retryable: false },
  NOT_FOUND: { exitCode: 1, retryable: false },
  INPUT_INVALID: { exitCode: 2, retryable: false },
  UNDER_WAY: { exitCode: 1, retryable: true },
  TOO_MANY: { exitCode: 2, retryable: false },
  SCHEMA_MISSING: { exitCode: 2, retryable: true },
  SCHEMA_OUTDATED: { exitCode: 2, retryable: true },
  SCHEMA_TOO_NEW: { exitCode: 2, retryable: false },
  REFERENCE_TABLE_MISSING: { exitCode: 2, retryable: true },
  // The messenger's migrations may be under way.
  REFERENCE_TABLE_UNFIT: { exitCode: 2, retryable: true },
  // Waiting helps where the grants are still to come.
  NOT_PERMITTED: { exitCode: 2, retryable: true },
  POOLER_DETECTED: { exitCode: 2, retryable: false },
  DATABASE_UNAVAILABLE: { exitCode: 1, retryable: true },
  OUTPUT_UNWRITABLE: { exitCode: 1, retryable: false },
  BROKER_UNAVAILABLE: { exitCode: 1, retryable: true },
} as const satisfies Record<string, { exitCode: 1 | 2; retryable: boolean }>

export type ErrorCode = keyof typeof errorCodes

/** An error with a code of the table above; its message says what to do next. */
export class AppError extends Error {
  readonly code: ErrorCode
  /** True where waiting can help: `serve` waits, a one-shot command gives up. */
  readonly retryable: boolean
  readonly exitCode: 1 | 2

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'AppError'
    this.code = code
    this.retryable = errorCodes[code].retryable
    this.exitCode = errorCodes[code].exitCode
  }
}
