/**
 * An error as the log shows it: type, code, message, stack, and the same of its causes.
 * Only fields known to be harmless are taken: PostgreSQL's `detail` and `where` quote whole rows,
 * so a constraint failure would print the title of the chat.
 */

import { AppError } from '../errors.js'
import { classifyFailure } from '../postgres/failure-class.js'
import { redacted, redactText } from './redact.js'

/** Deeper chains than this have been seen only where an error was its own cause. */
const maxDepth = 5
/** One connect fails for each address of the host; the first few say it all. */
const maxSiblings = 3
/** A message is for reading; a driver that quotes a whole statement would fill the log. */
const maxMessageLength = 2_000
/** Far more than a name or a code that is one; whoever throws may have set anything. */
const maxNameLength = 200

/** What kind of thing failed and which object of the schema; never values. */
const harmlessFields = [
  'code',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
  'address',
  'port',
  'retryable',
] as const

export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redactText(error) : error
  const name = readableName(error.name)
  const message = readableMessage(error)
  const described: Record<string, unknown> = { type: name, message }
  for (const field of harmlessFields) {
    const value = (error as unknown as Record<string, unknown>)[field]
    if (typeof value === 'string') described[field] = readableName(value)
    if (typeof value === 'number' || typeof value === 'boolean') described[field] = value
  }
  const frames = isKnownCondition(error) ? undefined : stackFrames(error)
  if (frames !== undefined) described['stack'] = `${name}: ${message}\n${frames}`
  if (depth === maxDepth) return described
  if (error.cause !== undefined) described['cause'] = describeError(error.cause, depth + 1)
  if (error instanceof AggregateError) {
    const siblings = error.errors.slice(0, maxSiblings)
    described['errors'] = siblings.map((sibling) => describeError(sibling, depth + 1))
  }
  return described
}

/** Tables or rights that lack: the start of a service whose `migrate` or grants are still to come. */
const unpreparedStates = new Set(['42P01', '3F000', '42501'])

/**
 * The message says it all, and the frames of whoever met it would only hide that: an error written for
 * people, the database or the way to it away, its tables or rights not there.
 */
function isKnownCondition(error: Error): boolean {
  if (error instanceof AppError) return true
  const { class: failure, code } = classifyFailure(error)
  return failure === 'infrastructure' || unpreparedStates.has(code)
}

function readableName(name: unknown): string {
  return redactText(String(name).slice(0, maxNameLength))
}

/** PostgreSQL's class 22 (data exceptions) quotes the offending value at the end of its message. */
function readableMessage(error: Error): string {
  const { code } = error as { code?: unknown }
  const isDataException = typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code)
  const message = isDataException
    ? error.message.replace(/: ".*"$/s, `: ${redacted}`)
    : error.message
  return redactText(message.slice(0, maxMessageLength))
}

/** The frames alone: what stands above them repeats the message, unredacted. */
function stackFrames(error: Error): string | undefined {
  return error.stack?.match(/^ {4}at .+$(?:\n {4}at .+$)*/m)?.[0]
}
