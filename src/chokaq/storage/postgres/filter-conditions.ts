/** A filter as the conditions of a statement; values are parameters, always. */

import { sql, type RawBuilder } from 'kysely'
import { storableText } from '../../jobs/storable-text.js'
import { stateCodes, type Place } from '../../kernel/job-state.js'
import type { JobFilter } from '../job-filter.js'

export const tableOf = {
  hot: sql.table('chokaq.jobs_hot'),
  archive: sql.table('chokaq.jobs_archive'),
  dlq: sql.table('chokaq.jobs_dlq'),
} as const satisfies Record<Place, RawBuilder<unknown>>

/** The text that errorContains looks into; the archive has none. */
const errorColumn = { hot: sql`last_error`, archive: sql`null`, dlq: sql`details` }

export const timeOf = (ms: number): RawBuilder<unknown> =>
  sql`'epoch'::timestamptz + ${ms}::float8 * interval '1 millisecond'`

/** True of the rows that the filter finds in that place's table. */
export function conditions(place: Place, filter: JobFilter): RawBuilder<unknown> {
  const found: RawBuilder<unknown>[] = [sql`true`]
  const when = <T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): void => {
    if (value !== undefined) found.push(condition(value))
  }
  const finished = place === 'hot' ? sql`null::timestamptz` : sql`finished_at`
  const reason = place === 'dlq' ? sql`reason` : sql`null::text`
  when(filter.states, (states) => {
    return sql`state = any (${states.map((state) => stateCodes[state])}::smallint[])`
  })
  when(filter.queue, (queue) => sql`queue = ${storableText(queue)}`)
  when(filter.type, (type) => sql`type = ${storableText(type)}`)
  when(filter.tag, (tag) => sql`${storableText(tag)} = any (tags)`)
  when(filter.createdBy, (by) => sql`created_by = ${storableText(by)}`)
  when(filter.idempotencyKey, (key) => sql`idempotency_key = ${storableText(key)}`)
  when(filter.reasons, (reasons) => sql`${reason} = any (${reasons}::text[])`)
  when(filter.errorContains, (text) => {
    return sql`position(lower(${storableText(text)}) in lower(${errorColumn[place]}::text)) > 0`
  })
  when(filter.createdAfterMs, (ms) => sql`created_at >= ${timeOf(ms)}`)
  when(filter.createdBeforeMs, (ms) => sql`created_at < ${timeOf(ms)}`)
  when(filter.finishedAfterMs, (ms) => sql`${finished} >= ${timeOf(ms)}`)
  when(filter.finishedBeforeMs, (ms) => sql`${finished} < ${timeOf(ms)}`)
  return sql.join(found, sql` and `)
}
