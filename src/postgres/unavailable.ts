/** Says in one line that the database can't be reached, and where it was looked for. */

import { AppError } from '../errors.js'
import { classifyFailure } from './failure-class.js'

/** An infrastructure failure as a readable AppError; anything else is given back as it is. */
export function explainUnavailable(error: unknown, connectionString: string): unknown {
  if (error instanceof AppError) return error
  const failure = classifyFailure(error)
  if (failure.class !== 'infrastructure') return error
  return new AppError(
    'DATABASE_UNAVAILABLE',
    `PostgreSQL at ${placeOf(connectionString)} can't be used (${failure.code}). ` +
      'Check that it runs and that DATABASE_URL names it, then try again.',
    { cause: error },
  )
}

/** Host, port and database, never the user or the password. */
function placeOf(connectionString: string): string {
  if (!URL.canParse(connectionString)) return 'the address of DATABASE_URL'
  const url = new URL(connectionString)
  return `${url.host}${url.pathname}`
}
