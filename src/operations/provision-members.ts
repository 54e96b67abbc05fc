/** The members that a deal lists, and what each is in its chat. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'
import type { ChatView } from './chat-view.js'

export interface MemberLine {
  readonly userId: string
  readonly role: string
  /** missing: not in the chat, or there is none. */
  readonly inChat: 'active' | 'left' | 'missing'
}

/** By user id, `limit` at the most. @param dealId as readUuid gives it */
export async function readMembers(
  db: Kysely<Database>,
  view: ChatView,
  dealId: string,
  limit: number,
): Promise<readonly MemberLine[]> {
  const { rows } = await sql<MemberLine>`
    select m.user_id as "userId", m.role,
      case when x.user_id is null then 'missing' when x.left_at is null then 'active' else 'left' end
        as "inChat"
    from messenger.deal_chat_provisions p
    join messenger.deal_chat_provision_members m on m.provision_id = p.id
    left join ${view.chats} c on c.deal_id = p.deal_id
    left join ${view.participants} x on x.chat_id = c.id and x.user_id = m.user_id
    where p.deal_id = ${dealId}::uuid
    order by m.user_id
    limit ${limit}
  `.execute(db)
  return rows
}
