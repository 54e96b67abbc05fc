/**
 * Tells in one statement whether anything has changed: a text for each resource that differs once it
 * has. Indexed ends of what only grows show a change at once; the server's own counters of written
 * rows show every other one, as soon as the session that wrote has reported it (within 10 seconds).
 */

import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'

export const resources = ['provisions', 'outbox', 'jobs', 'queues', 'runs'] as const
export type Resource = (typeof resources)[number]

export type ChangeMarks = Readonly<Record<Resource, string>>

export async function readChangeMarks(trx: Transaction<Database>): Promise<ChangeMarks> {
  const jobs = sql`${writes('chokaq.jobs_hot')}, ${writes('chokaq.jobs_archive')},
    ${writes('chokaq.jobs_dlq')}, (select max(finished_at) from chokaq.jobs_archive),
    (select max(finished_at) from chokaq.jobs_dlq), (select max(id) from chokaq.jobs_hot)`
  const newest = sql`(select max(seq) from messenger.outbox_events),
    (select max(id) from messenger.chat_provision_audit)`
  const { rows } = await sql<ChangeMarks>`
    select
      concat_ws(' ', ${writes('messenger.deal_chat_provisions')}, ${newest}) as provisions,
      concat_ws(' ', ${writes('messenger.outbox_events')}, ${newest},
        (select max(coalesce(published_at, superseded_at, skipped_at))
         from messenger.outbox_events
         where coalesce(published_at, superseded_at, skipped_at) is not null)) as outbox,
      concat_ws(' ', ${jobs}) as jobs,
      concat_ws(' ', ${jobs}, (select md5(string_agg(q::text, ',' order by q.name))
        from chokaq.queues q)) as queues,
      (select concat_ws(' ', r.id, r.finished_at, r.claimed)
       from messenger.chat_provision_runs r order by r.started_at desc limit 1) as runs
  `.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error('the statement gave no row')
  return row
}

/** Rows inserted, updated and deleted since the server's statistics began. */
function writes(table: string): RawBuilder<string> {
  return sql<string>`(select n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables
    where relid = ${table}::regclass)`
}
