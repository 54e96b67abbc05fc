/** Why a deal was not acted on, in words for the operator. */

import { sql, type Kysely } from 'kysely'
import { AppError } from '../errors.js'
import { classifyFailure } from '../postgres/failure-class.js'
import type { Database } from '../postgres/schema.js'
import type { Refusal, Targets } from './provision-command.js'

/** Given deals for which there is no row. */
export async function missingDeals(db: Kysely<Database>, targets: Targets): Promise<Refusal[]> {
  if ('filter' in targets) return []
  const { rows } = await sql<{ dealId: string }>`
    select given.id as "dealId" from unnest(${targets.dealIds}::uuid[]) as given(id)
    where not exists (select from messenger.deal_chat_provisions p where p.deal_id = given.id)
  `.execute(db)
  return rows.map(({ dealId }) => ({ dealId, why: 'there is no provision for this deal' }))
}

/**
 * What concerns this row alone is refused; without the database there is no going on.
 *
 * @param done how many rows were done before, for the message
 * @throws AppError DATABASE_UNAVAILABLE
 */
export function whyNotNow(error: unknown, done: number): { readonly why: string } {
  const failure = classifyFailure(error)
  if (failure.class === 'infrastructure') {
    throw new AppError(
      'DATABASE_UNAVAILABLE',
      `The database was lost (${failure.code}) after ${done} were done. ` +
        'Give the same command again: it goes on where this one ended.',
      { cause: error },
    )
  }
  if (failure.class === 'contention') {
    return { why: `someone else holds its row (${failure.code}); try again` }
  }
  return { why: `it failed with ${failure.class}:${failure.code}` }
}
