/** Messages of crm that the intake has set aside: their deals have no chat, and nobody retries them. */

import { sql, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { ok, warning, type Verdict } from '../finding.js'

export async function checkParkedMessages(trx: Transaction<Database>): Promise<Verdict> {
  const { rows } = await sql<{ n: number; since: string | null; latest: string | null }>`
    select count(*)::int as n, date_trunc('second', min(parked_at))::text as since,
      (array_agg(error order by parked_at desc))[1] as latest
    from messenger.intake_parked
  `.execute(trx)
  const { n, since, latest } = rows[0] ?? { n: 0, since: null, latest: null }
  if (n === 0) return ok('no message of crm is set aside')
  return warning(
    `${n} set aside, the oldest since ${since ?? 'ever'}, the latest for ${latest ?? 'no reason'}`,
    'chat-provision-retry intake list; then runbooks/chat-provision-intake-parked.md',
  )
}
