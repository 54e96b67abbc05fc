/** The record of cycles, newest first. A cycle that was skipped for the run lock leaves none. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { readCursor, toPage, type ListOrder, type Page, type PageRequest } from './page.js'
import { exactTime, timeOf, utcText } from './utc-text.js'

export interface RunLine {
  /** The jobRunId of logs, spans and events. */
  readonly id: string
  readonly startedAt: string
  /** Null while it runs; of one that died, when the next run noticed. */
  readonly finishedAt: string | null
  readonly outcome: 'completed' | 'aborted' | 'stopped' | null
  readonly reason: string | null
  readonly asOf: string
  readonly claimed: number
  readonly provisioned: number
  readonly retried: number
  /** Rows that became poison. */
  readonly failed: number
  readonly skipped: number
  /** Host and process. */
  readonly host: string
  readonly durationMs: number | null
}

const order: ListOrder = { name: 'runs', parts: ['time', 'uuid'] }

/** @throws AppError INPUT_INVALID for a foreign cursor */
export async function listRuns(
  db: Kysely<Database>,
  { limit, cursor }: PageRequest,
): Promise<Page<RunLine>> {
  const [started, id] = readCursor(order, cursor) ?? []
  const after =
    started === undefined
      ? sql`true`
      : sql`(r.started_at, r.id) < (${timeOf(started)}, ${id}::uuid)`
  const { rows } = await sql<RunLine & { place: string[] }>`
    select r.id, ${utcText('r.started_at')} as "startedAt",
      ${utcText('r.finished_at')} as "finishedAt", r.outcome, r.reason,
      ${utcText('r.as_of')} as "asOf", r.claimed, r.provisioned, r.retried, r.failed, r.skipped,
      r.host, round(extract(epoch from r.finished_at - r.started_at) * 1000)::float8 as "durationMs",
      array[${exactTime('r.started_at')}, r.id::text] as place
    from messenger.chat_provision_runs r
    where ${after}
    order by r.started_at desc, r.id desc
    limit ${limit + 1}
  `.execute(db)
  return toPage(order, rows, limit, ({ place, ...item }) => ({ item, place }))
}
