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
  '3D000', // invalid_catalog_name: the database is gone, or has another name
  '25006', // read_only_sql_transaction: a failover has made this server a standby
  '25P03', // idle_in_transaction_session_timeout: the session is ended
  '25P04', // transaction_timeout: likewise
  '26000', // invalid_sql_statement_name: someone has discarded what the session had prepared
  '42P05', // duplicate_prepared_statement: the session is shared after all
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
  'ENOTCONN',
  'EPIPE',
  'EPROTO',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'ERR_STREAM_DESTROYED',
  'ERR_SOCKET_CLOSED',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
])

/** A session that can't be begun, whatever the code: no socket file, a firewall, no descriptors left. */
const connectCalls = new Set<unknown>(['connect', 'getaddrinfo'])

/** Certificates run out at night, and a new connection then fails while old ones still work. */
const certificateCodes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)_)/

/** The drivers throw plain Errors for a connection that is lost or out of step; these are their texts. */
const connectionTexts = [
  /^Connection terminated/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
  /^timeout expired$/,
  /^timeout exceeded when trying to connect/,
  /^Query read timeout/,
  /^Cannot use a pool after calling end/,
  /^Received unexpected \w+ message from backend/,
  /^received invalid response: /,
  /^Unknown authenticationOk message type /,
  /^driver has already been destroyed/,
  /^Postgres connection has been discarded/,
]

/** Likewise for one that was never agreed upon: no TLS on the other side, no password on this one. */
const handshakeTexts = [
  /^SASL\b/,
  /^The server does not support SSL/,
  /^There was an error establishing an SSL/,
]

/** A prepared statement has outlived a change of its tables; a new session prepares it anew. */
const stalePlanText = 'cached plan must not change result type'

/** An error has more causes than this only where it is its own. */
const causesAtMost = 5

export interface Failure {
  readonly class: FailureClass
  /** The SQLSTATE, the socket's code, or the error's name. */
  readonly code: string
}

/**
 * True where the server itself refuses work, for every row alike: out of disk, memory or connections,
 * failing storage, or read-only since a failover.
 */
export function isServerWide(code: string): boolean {
  return /^(53|58)...$/.test(code) || code === '25006'
}

/**
 * Classifies whatever a database call, or the code around it, has thrown: by what the error says
 * itself, else by what it was made from, for an adapter may wrap what it met.
 */
export function classifyFailure(error: unknown): Failure {
  return knownFailure(error, causesAtMost) ?? { class: 'bug', code: nameOf(error) }
}

function knownFailure(error: unknown, causes: number): Failure | undefined {
  const own = ownFailure(error)
  if (own !== undefined || causes === 0 || !(error instanceof Error)) return own
  const origins: unknown[] = [error.cause]
  // One connect fails for each address of the host.
  if (error instanceof AggregateError) origins.unshift(...(error.errors as unknown[]))
  for (const origin of origins) {
    const failure = knownFailure(origin, causes - 1)
    if (failure !== undefined) return failure
  }
  return undefined
}

function ownFailure(error: unknown): Failure | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, syscall, message } = error as Readonly<Record<string, unknown>>
  if (typeof code === 'string') {
    const ofConnection =
      socketCodes.has(code) || connectCalls.has(syscall) || certificateCodes.test(code)
    if (ofConnection) return { class: 'infrastructure', code }
    if (code === '0A000' && message === stalePlanText) return { class: 'infrastructure', code }
    if (/^[0-9A-Z]{5}$/.test(code)) return { class: classOfState(code), code }
  }
  if (typeof message !== 'string') return undefined
  const isOneOf = (texts: readonly RegExp[]): boolean => texts.some((text) => text.test(message))
  if (isOneOf(connectionTexts)) return { class: 'infrastructure', code: 'CONNECTION_LOST' }
  if (isOneOf(handshakeTexts)) return { class: 'infrastructure', code: 'HANDSHAKE_FAILED' }
  return undefined
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

/** Whoever throws may have set anything as the name. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const name: unknown = error.name
  return typeof name === 'string' && name !== '' ? name : 'Error'
}
