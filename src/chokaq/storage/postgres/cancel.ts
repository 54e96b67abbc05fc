/** What an operator does with live jobs, in PostgreSQL. */

import { sql } from 'kysely'
import { storableText } from '../../jobs/storable-text.js'
import { cancellationDetails } from '../cancellation-details.js'
import type { CancelResult, PriorityResult } from '../operator-port.js'
import type { Executor } from './connections.js'
import { bury, count } from './ending.js'

export async function cancel(
  db: Executor,
  ids: readonly string[],
  request: { readonly by: string; readonly reason: string },
): Promise<readonly CancelResult[]> {
  const { by, reason } = request
  const names = ids.map((id) => storableText(id))
  const { rows } = await sql<{ ended: boolean; asked: boolean }>`
    with item as materialized (
      -- Named twice, the second one finds what the first has made of it.
      select *, row_number() over (partition by id order by ord) = 1 as first
      from unnest(${names}::text[]) with ordinality as i (id, ord)
    ),
    live as materialized (
      select h.id, h.state from chokaq.jobs_hot h
      where h.id = any (${names}::text[]) order by h.id for update
    ),
    asked as (
      update chokaq.jobs_hot h
      set cancel_requested_by = coalesce(h.cancel_requested_by, ${by}),
        cancel_reason = coalesce(h.cancel_reason, ${reason})
      from live where h.id = live.id and live.state = 2
      returning h.id
    ),
    gone as (
      delete from chokaq.jobs_hot h using live where h.id = live.id and live.state in (0, 1)
      returning h.*, null::float8 as duration_ms, 'Cancelled' as reason,
        ${cancellationDetails(request)}::text as details
    ),
    ended as (${bury('gone')}),
    counted as (${count(sql`select queue, 'failed', 0::float8 from ended`)})
    select e.id is not null as ended, a.id is not null as asked
    from item i left join ended e on e.id = i.id and i.first left join asked a on a.id = i.id order by i.ord
  `.execute(db)
  return rows.map(({ ended, asked }) => {
    if (ended) return { outcome: 'cancelled' }
    return { outcome: asked ? 'requested' : 'not-live' }
  })
}

export async function setPriority(
  db: Executor,
  ids: readonly string[],
  request: { readonly by: string; readonly priority: number },
): Promise<readonly PriorityResult[]> {
  const names = ids.map((id) => storableText(id))
  const { rows } = await sql<{ changed: boolean }>`
    with item as materialized (
      select * from unnest(${names}::text[]) with ordinality
        as i (id, ord)
    ),
    pending as materialized (
      select h.id from chokaq.jobs_hot h
      where h.id = any (${names}::text[]) and h.state = 0 order by h.id for no key update
    ),
    changed as (
      update chokaq.jobs_hot h set priority = ${request.priority}, modified_by = ${request.by}
      from pending where h.id = pending.id
      returning h.id
    )
    select c.id is not null as changed
    from item i left join changed c on c.id = i.id order by i.ord
  `.execute(db)
  return rows.map(({ changed }) => ({ outcome: changed ? 'changed' : 'not-pending' }))
}
