/**
 * The one place that tells what a failed database call means, from its SQLSTATE or socket error.
 *
 * contention      others were in the way; the same work may succeed at once
 * infrastructure  the server or the way to it failed; says nothing about the row
 * constraint, data, bug  the row's own failure: it would fail the same way again
 */

export type FailureClass = 'contention' | 'infrastructure' | 'constraint' | 'data' | 'bug'

/** SQLSTATEs of PostgreSQL's appendix A that are an exception within their class. */
const contentionStates = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available: lock_timeout
  '57014', // query_canceled: statement_timeout, or an administrator
])

const infrastructureStates = new Set([
  '25006', // read_only_sql_transaction: a failover has made this server a standby
  '25P03', // idle_in_transaction_session_timeout: the session is ended
  '25P04', // transaction_timeout: likewise
  '57P01', // admin_shutdown, pg_terminate_backend
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P04', // database_dropped
  '57P05', // idle_session_timeout
])

/** connection exception, insufficient resources (disk full, too many connections), system error,
 *  invalid authorization: no row can do anything about these. */
const infrastructureClasses = new Set(['08', '28', '53', '58'])

const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
])

/** pg and pg-pool throw plain Errors for a lost or missing connection; these are their texts. */
const connectionTexts = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Cannot use a pool after calling end',
  'The server does not support SSL',
  'driver has already been destroyed',
]

export interface Failure {
  readonly class: FailureClass
  /** The SQLSTATE, the socket's code, or the error's name. */
  readonly code: string
}

/** Classifies whatever a database call, or the code around it, has thrown. */
export function classifyFailure(error: unknown): Failure {
  const code = codeOf(error)
  if (code !== undefined && socketCodes.has(code)) return { class: 'infrastructure', code }
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return { class: classOfState(code), code }
  if (isConnectionLoss(error)) return { class: 'infrastructure', code: 'CONNECTION_LOST' }
  return { class: 'bug', code: error instanceof Error ? error.name : typeof error }
}

function classOfState(state: string): FailureClass {
  if (contentionStates.has(state)) return 'contention'
  if (infrastructureStates.has(state)) return 'infrastructure'
  const stateClass = state.slice(0, 2)
  if (infrastructureClasses.has(stateClass)) return 'infrastructure'
  if (stateClass === '23') return 'constraint'
  if (stateClass === '22') return 'data'
  return 'bug'
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function isConnectionLoss(error: unknown): boolean {
  return error instanceof Error && connectionTexts.some((text) => error.message.includes(text))
}
