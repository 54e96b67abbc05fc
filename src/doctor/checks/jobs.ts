/**
 * A durable job is in one of three tables. Each move of the retry core is one statement, so only rows
 * that somebody wrote by hand can be in two; the database doesn't look from table to table at each move,
 * which would cost every job of all for what only a person can do.
 */

import { sql, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { failed, ok, type Verdict } from '../finding.js'

const shownAtMost = 2

export async function checkJobs(trx: Transaction<Database>): Promise<Verdict> {
  const { rows } = await sql<{ id: string }>`
    select id from (
      select h.id from chokaq.jobs_hot h join chokaq.jobs_archive a using (id)
      union select h.id from chokaq.jobs_hot h join chokaq.jobs_dlq d using (id)
      union select d.id from chokaq.jobs_dlq d join chokaq.jobs_archive a using (id)
    ) twice order by id
  `.execute(trx)
  if (rows.length === 0) return ok('every job is in one table')
  const some = rows.slice(0, shownAtMost).map(({ id }) => id)
  const more = rows.length > shownAtMost ? ', …' : ''
  return failed(
    `${rows.length} in more than one table: job ${some.join(', ')}${more}`,
    'look at both rows (chokaq.jobs_hot, jobs_archive, jobs_dlq) and delete the one that is not true',
  )
}
