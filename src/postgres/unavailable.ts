/** Says in one line why the database can't be used, where it was looked for, and what to look at. */

import { AppError } from '../errors.js'
import { classifyFailure } from './failure-class.js'

export type DatabaseOption = 'DATABASE_URL' | 'LOCK_DATABASE_URL'

interface Addresses {
  readonly url: string
  readonly lockUrl: string
}

/**
 * An infrastructure failure, or a right that lacks, as a readable AppError; anything else is given back
 * as it is.
 *
 * @param option whose address was used; where both are the same, DATABASE_URL is named
 */
export function explainUnavailable(
  error: unknown,
  addresses: Addresses,
  option: DatabaseOption = 'DATABASE_URL',
): unknown {
  if (error instanceof AppError) return error
  const failure = classifyFailure(error)
  if (failure.code === '42501') return notPermitted(error)
  if (failure.class !== 'infrastructure') return error
  const url = option === 'DATABASE_URL' ? addresses.url : addresses.lockUrl
  const named = url === addresses.url ? 'DATABASE_URL' : option
  return new AppError(
    'DATABASE_UNAVAILABLE',
    `PostgreSQL at ${placeOf(url)} can't be used (${failure.code}): ${adviceFor(failure.code, named)}.`,
    { cause: error },
  )
}

/** PostgreSQL's text names the object, never its contents. */
function notPermitted(error: unknown): AppError {
  const what = error instanceof Error ? error.message : 'permission denied'
  return new AppError(
    'NOT_PERMITTED',
    `The role that DATABASE_URL names may not do this (${what}). \`migrate up\` is for the owner of the ` +
      'schemas messenger and chokaq, which for its first run also needs CREATE on the database, to make ' +
      'them; what the service itself needs is in migrations/grants/worker.sql.',
    { cause: error },
  )
}

function adviceFor(code: string, option: DatabaseOption): string {
  if (code.startsWith('28')) return `it refuses the user or the password; correct ${option}`
  if (code === '3D000') return `it has no such database; correct ${option}`
  if (code === '25006') return `it is read-only; ${option} must name the primary`
  if (code === '53300') return 'it has no connections left; raise max_connections or use fewer'
  return `check that it runs and that ${option} names it, then try again`
}

/** Host, port and database, never the user or the password. */
function placeOf(connectionString: string): string {
  if (!URL.canParse(connectionString)) return 'its address'
  const url = new URL(connectionString)
  return `${url.host}${url.pathname}`
}
