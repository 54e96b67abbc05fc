/** The list of provisions, most recently changed first. */

import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database, ProvisionStatus } from '../postgres/schema.js'
import { readCursor, toPage, type ListOrder, type Page, type PageRequest } from './page.js'
import { matches, type ProvisionFilter } from './provision-filter.js'
import { exactTime, timeOf, utcText } from './utc-text.js'

/** Times are RFC 3339 in UTC, or `infinity` where the row says so. */
export interface ProvisionLine {
  readonly dealId: string
  readonly status: ProvisionStatus
  readonly attempts: number
  /** `class:code` of the last failure. */
  readonly lastError: string | null
  readonly tenantId: string | null
  readonly nextAttemptAt: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** What a provision shows of itself, over `messenger.deal_chat_provisions p`. */
export const provisionColumns: RawBuilder<unknown> = sql`
  p.deal_id as "dealId", p.status, p.attempts, p.last_error as "lastError",
  p.deal_tenant_id as "tenantId", ${utcText('p.next_attempt_at')} as "nextAttemptAt",
  ${utcText('p.created_at')} as "createdAt", ${utcText('p.updated_at')} as "updatedAt"`

const order: ListOrder = { name: 'provisions', parts: ['time', 'uuid'] }

export interface ProvisionQuery extends PageRequest {
  readonly filter: ProvisionFilter
  /** What makes a row poison. */
  readonly maxAttempts: number
}

/** @throws AppError INPUT_INVALID for a foreign cursor */
export async function listProvisions(
  db: Kysely<Database>,
  { filter, maxAttempts, limit, cursor }: ProvisionQuery,
): Promise<Page<ProvisionLine>> {
  const [changed, id] = readCursor(order, cursor) ?? []
  const after =
    changed === undefined
      ? sql`true`
      : sql`(p.updated_at, p.id) < (${timeOf(changed)}, ${id}::uuid)`
  const { rows } = await sql<ProvisionLine & { place: string[] }>`
    select ${provisionColumns}, array[${exactTime('p.updated_at')}, p.id::text] as place
    from messenger.deal_chat_provisions p
    where ${matches(filter, maxAttempts)} and ${after}
    order by p.updated_at desc, p.id desc
    limit ${limit + 1}
  `.execute(db)
  return toPage(order, rows, limit, ({ place, ...item }) => ({ item, place }))
}
