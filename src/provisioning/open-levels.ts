/**
 * The levels of open rows: each pair of status and attempts that occurs among those with attempts left.
 * One look-up in ix_dcp_open finds each of the few there are, whatever number of rows waits in it, so
 * candidates are read and the oldest is found level by level, without a sort of the whole.
 */

import { sql, type RawBuilder } from 'kysely'
import type { ProvisionStatus } from '../postgres/schema.js'

export interface OpenLevel {
  readonly status: ProvisionStatus
  readonly attempts: number
}

/** Of row `p`: what lets the planner use ix_dcp_open where the status is not a constant. */
export const isOpen = sql`p.status <> 'Ready'`

/** The table `level (status, attempts)` of a `with recursive`; its last row of a status has no attempts. */
export function openLevels(maxAttempts: number): RawBuilder<unknown> {
  const nextLevel = (status: RawBuilder<unknown>, above: RawBuilder<unknown>) => sql`(
    select p.attempts from messenger.deal_chat_provisions p
    where p.status = ${status} and ${isOpen}
      and p.attempts > ${above} and p.attempts < ${maxAttempts}::int
    order by p.attempts
    limit 1)`
  return sql`level (status, attempts) as (
      select s.status, ${nextLevel(sql`s.status`, sql`-1`)}
      from (values ('Failed'), ('Provisioning')) s (status)
      union all
      select status, ${nextLevel(sql`level.status`, sql`level.attempts`)}
      from level
      where attempts is not null
    )`
}
