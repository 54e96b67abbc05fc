/** The messages of crm that the intake has set aside, as lists and JSON show them: never their values. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import { readCursor, toPage, type ListOrder, type Page, type PageRequest } from './page.js'
import { utcText } from './utc-text.js'

export interface ParkedLine {
  readonly id: string
  readonly topic: string
  readonly partition: number
  readonly offset: string
  /** A code and where it is wrong. */
  readonly reason: string
  /** RFC 3339 in UTC. */
  readonly parkedAt: string
  /** Of the value; null where it has none. */
  readonly bytes: number | null
}

const order: ListOrder = { name: 'messages', parts: ['uuid'] }

const columns = sql`m.id, m.topic, m.partition, m."offset"::text as "offset", m.error as reason,
  ${utcText('m.parked_at')} as "parkedAt", length(m.value) as bytes`

/** Newest first. @throws AppError INPUT_INVALID for a foreign cursor */
export async function listParkedMessages(
  db: Kysely<Database>,
  { limit, cursor }: PageRequest,
): Promise<Page<ParkedLine>> {
  const [before] = readCursor(order, cursor) ?? []
  // Ids are of version 7: they rise with time.
  const after = before === undefined ? sql`true` : sql`m.id < ${before}::uuid`
  const { rows } = await sql<ParkedLine>`
    select ${columns} from messenger.intake_parked m
    where ${after} order by m.id desc limit ${limit + 1}
  `.execute(db)
  return toPage(order, rows, limit, (item) => ({ item, place: [item.id] }))
}

export interface ParkedDetail extends ParkedLine {
  /** Who may read it may see titles and members in it; null where the message has none. */
  readonly value: Buffer | null
}

export async function findParkedMessage(
  db: Kysely<Database>,
  id: string,
): Promise<ParkedDetail | undefined> {
  const { rows } = await sql<ParkedDetail>`
    select ${columns}, m.value from messenger.intake_parked m where m.id = ${id}::uuid
  `.execute(db)
  return rows[0]
}

/** Oldest first, as they came. */
export async function allParkedMessages(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from messenger.intake_parked order by topic, partition, "offset"
  `.execute(db)
  return rows.map(({ id }) => id)
}
