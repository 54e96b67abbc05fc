/**
 * Rows that no selection will ever reach, or not for long: a status outside the enum, a next attempt at
 * infinity or far beyond every backoff, a hanging row whose last update lies in the future.
 */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Config } from '../../config/config.js'
import type { Database } from '../../postgres/schema.js'
import { failed, worstOf, type Verdict } from '../finding.js'

/** Beyond the longest backoff an operator may have put a row off on purpose, but hardly for longer. */
const putOffMs = 86_400_000
/** The first few are enough to see what they have in common. */
const shownAtMost = 2

interface Rule {
  readonly what: string
  readonly table: 'deal_chat_provisions' | 'outbox_events'
  readonly deal: 'deal_id' | 'aggregate_id'
  readonly where: RawBuilder<unknown>
  readonly mend: string
}

export async function checkUnreachableRows(
  trx: Transaction<Database>,
  config: Config,
): Promise<Verdict> {
  const troubles: Verdict[] = []
  for (const { what, table, deal, where, mend } of rulesOf(config)) {
    const { rows } = await sql<{ n: number; some: string[] | null }>`
      select count(*)::int as n,
        (array_agg(${sql.ref(deal)}::text order by ${sql.ref(deal)}))[:${sql.lit(shownAtMost)}] as some
      from ${sql.table(`messenger.${table}`)} where ${where}
    `.execute(trx)
    const { n, some } = rows[0] ?? { n: 0, some: null }
    if (n === 0) continue
    const more = n > shownAtMost ? ', …' : ''
    troubles.push(failed(`${n} with ${what}: deal ${some?.join(', ')}${more}`, mend))
  }
  return worstOf(troubles, 'every row can be reached by some selection')
}

function rulesOf({ retry }: Config): Rule[] {
  const latest = sql`clock_timestamp()
    + ${retry.backoff.capMs + putOffMs}::float8 * interval '1 millisecond'`
  const dueNow = 'update its next_attempt_at to now()'
  const provisions = { table: 'deal_chat_provisions', deal: 'deal_id' } as const
  return [
    {
      ...provisions,
      what: 'a status that is none',
      where: sql`status not in ('Provisioning', 'Ready', 'Failed')`,
      mend: "update the status to 'Failed', then put the check ck_dcp_status back",
    },
    {
      ...provisions,
      what: 'a next attempt that never comes',
      where: sql`status in ('Provisioning', 'Failed') and next_attempt_at > ${latest}
        and attempts < ${retry.maxAttempts}`,
      mend: dueNow,
    },
    {
      ...provisions,
      what: 'Provisioning since a time that is yet to come',
      where: sql`status = 'Provisioning'
        and updated_at > clock_timestamp() + ${putOffMs}::float8 * interval '1 millisecond'`,
      mend: 'update its updated_at to now()',
    },
    {
      table: 'outbox_events',
      deal: 'aggregate_id',
      what: 'an event that is never sent',
      where: sql`published_at is null and superseded_at is null and skipped_at is null
        and parked_at is null and next_attempt_at > ${latest}`,
      mend: dueNow,
    },
  ]
}
