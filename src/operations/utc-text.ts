/** Times as lists and JSON show them, and as a cursor keeps them. */

import { sql, type RawBuilder } from 'kysely'

/**
 * A time for people and JSON: RFC 3339 in UTC, or ±infinity; null stays null. As text, for a Date
 * can't hold all that the column can, and a list must not fail over one odd row.
 */
export function utcText<T extends string | null = string>(column: string): RawBuilder<T> {
  const time = sql.ref(column)
  return sql<T>`case when isfinite(${time})
    then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else ${time}::text end`
}

/** A time without loss: microseconds since 1970, or ±infinity. */
export function exactTime(column: string): RawBuilder<string> {
  const time = sql.ref(column)
  return sql<string>`case when isfinite(${time})
    then trunc(extract(epoch from ${time}) * 1000000)::text else ${time}::text end`
}

/** The way back from `exactTime`. */
export function timeOf(exact: string): RawBuilder<unknown> {
  return exact.endsWith('infinity')
    ? sql`${exact}::timestamptz`
    : sql`(timestamptz 'epoch' + ${exact}::float8 * interval '1 microsecond')`
}
