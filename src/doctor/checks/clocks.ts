/**
 * How far is this host's clock from the database's? Only the database's decides anything, so a
 * difference alters no work; but logs and traces of several hosts can't be put in order by it.
 */

import { sql, type Transaction } from 'kysely'
import type { Database } from '../../postgres/schema.js'
import { ok, warning, type Verdict } from '../finding.js'

/** Far above what NTP leaves, and what a slow answer could feign. */
const allowedMs = 2_000

export async function checkClocks(trx: Transaction<Database>): Promise<Verdict> {
  const askedAt = Date.now()
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms
  `.execute(trx)
  // The server read its clock somewhere between question and answer.
  const middle = (askedAt + Date.now()) / 2
  const differenceMs = Math.round((rows[0]?.ms ?? Number.NaN) - middle)
  if (Math.abs(differenceMs) <= allowedMs) return ok('host and database agree')
  const [seconds, way] = [(Math.abs(differenceMs) / 1_000).toFixed(1), differenceMs > 0]
  return warning(
    `the host is ${seconds} s ${way ? 'behind' : 'ahead of'} the database`,
    'have both keep time by NTP; until then compare log times with care',
  )
}
