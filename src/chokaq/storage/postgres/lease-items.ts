/** Leases and what comes with them, as a relation that a statement joins. */

import { sql, type RawBuilder } from 'kysely'
import type { Lease } from '../../jobs/job.js'
import { storableText } from '../../jobs/storable-text.js'
import { arrayLiteral } from './array-literal.js'

interface Leased {
  readonly lease: Lease
}

/** A further column of the relation, of a PostgreSQL type. */
export interface ItemColumn<I> {
  readonly name: string
  readonly type: 'text' | 'float8' | 'smallint' | 'boolean'
  readonly value: (item: I) => string | number | boolean | null
}

/** A CTE named `item`: ord (from 1), id, owner, token, and the further columns. */
export function itemRelation<I extends Leased>(
  items: readonly I[],
  columns: readonly ItemColumn<I>[] = [],
): RawBuilder<unknown> {
  const arrays = [
    sql`${arrayLiteral(items.map(({ lease }) => storableText(lease.jobId)))}::text[]`,
    sql`${arrayLiteral(items.map(({ lease }) => lease.token))}::bigint[]`,
    ...columns.map(({ type, value }) => sql`${arrayLiteral(items.map(value))}::${sql.raw(type)}[]`),
  ]
  const names = ['id', 'token', ...columns.map(({ name }) => name), 'ord']
  return sql`
    item as materialized (
      select i.*, ${owners(items)} as owner from unnest(${sql.join(arrays)}) with ordinality
        as i (${sql.join(names.map((name) => sql.ref(name)))})
    )`
}

/** Said once where all have one owner, as a worker's leases do. */
function owners(items: readonly Leased[]): RawBuilder<unknown> {
  const [first] = items
  const owner = first?.lease.owner ?? ''
  if (items.every(({ lease }) => lease.owner === owner)) return sql`${storableText(owner)}::text`
  const each = arrayLiteral(items.map(({ lease }) => storableText(lease.owner)))
  return sql`(${each}::text[])[i.ord]`
}

/** Of a row of the hot table: 1 where it has been started, and an attempt burnt with that. */
export const startsOf = sql`(state = 2)::int`

/** True of a row `h` of the hot table that is Fetched or Processing under the lease of item `i`. */
export const isHeld = sql`h.id = i.id and h.owner = i.owner and h.token = i.token`
