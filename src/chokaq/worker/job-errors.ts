/** What a handler may throw to say more than "it failed", and how any error is understood. */

import type { FailureKind } from '../kernel/failure.js'

/** The work itself is at fault: no further run, straight to the dead letters. */
export class FatalJobError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'FatalJobError'
  }
}

/** The dependency asks to be left alone for so long: the next run waits at least that. */
export class RetryAfterError extends Error {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'RetryAfterError'
    this.retryAfterMs = retryAfterMs
  }
}

export interface ErrorVerdict {
  readonly kind: FailureKind
  readonly retryAfterMs?: number | undefined
}

/**
 * Slips of the program fail the same way however often they are run. A TypeError with a cause is none:
 * `fetch` reports a lost connection that way. A SyntaxError may be somebody's half answer.
 */
export function classifyError(error: unknown): ErrorVerdict {
  if (error instanceof RetryAfterError) {
    const { retryAfterMs: asked } = error
    // A Retry-After that could not be read (NaN) says nothing: the plain backoff, and never none at all.
    return { kind: 'throttled', retryAfterMs: asked >= 0 ? asked : undefined }
  }
  const isSlip =
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    (error instanceof TypeError && error.cause === undefined)
  return { kind: error instanceof FatalJobError || isSlip ? 'fatal' : 'transient' }
}

/** Causes deeper than this repeat what was said. */
const maxCauses = 5

/**
 * The error itself, or one in its place where whoever threw it has made it unfit to be told of: a
 * message that is no text, a stack without a prototype, a revoked proxy.
 */
export function readableError(error: unknown): unknown {
  try {
    if (isReadable(error, 0)) return error
  } catch {
    // What throws when it is looked at can not be shown either.
  }
  return new Error('the handler threw an error that can not be shown')
}

function isReadable(error: unknown, depth: number): boolean {
  if (!(error instanceof Error) || depth > maxCauses) return true
  const { name, message, stack, cause } = error
  const isText = [name, message, stack ?? ''].every((part) => typeof part === 'string')
  const parts: unknown = error instanceof AggregateError ? error.errors : []
  if (!isText || !Array.isArray(parts)) return false
  return [cause, ...(parts as unknown[])].every((part) => isReadable(part, depth + 1))
}

/** The failure in full for the dead letter: stack, causes, and the parts of an AggregateError. */
export function describeFailure(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return textOf(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  if (depth >= maxCauses) return own
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  const inner = [error.cause, ...parts].filter((part) => part !== undefined)
  return [own, ...inner.map((part) => `caused by: ${describeFailure(part, depth + 1)}`)].join('\n')
}

/** One line for lists. */
export function summarizeFailure(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : textOf(error)
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return `thrown: ${thrown}`
  try {
    const json = JSON.stringify(thrown) as string | undefined
    return `thrown: ${json ?? typeof thrown}`
  } catch {
    return 'thrown: something that can not be shown'
  }
}
