/** Which deal somebody means who has an id in hand, of the deal or of its chat. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import type { ChatView } from './chat-view.js'
import { readUuid } from './read-input.js'

/** The deal's id, or undefined. @throws AppError INPUT_INVALID for what is no id */
export async function findDeal(
  db: Kysely<Database>,
  chats: ChatView,
  text: string,
): Promise<string | undefined> {
  const id = readUuid('a deal id or chat id', text)
  const { rows } = await sql<{ dealId: string }>`
    select p.deal_id as "dealId" from messenger.deal_chat_provisions p
    where p.deal_id = ${id}::uuid
    union all
    select p.deal_id from messenger.deal_chat_provisions p
    join ${chats.chats} c on c.deal_id = p.deal_id where c.id = ${id}::uuid
    limit 1
  `.execute(db)
  return rows[0]?.dealId
}
