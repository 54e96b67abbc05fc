/** Titles, for people who look at a page: kept out of lines, which scripts and logs get. */

import type { Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'

/** By deal; a deal without a provision has none. Titles are what others have typed: hostile input. */
export async function readTitles(
  db: Kysely<Database>,
  dealIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (dealIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('messenger.deal_chat_provisions')
    .select(['deal_id', 'title'])
    .where('deal_id', 'in', dealIds)
    .execute()
  return new Map(rows.map(({ deal_id, title }) => [deal_id, title]))
}
