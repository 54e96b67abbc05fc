/** A constraint that speaks only at commit, when the work before it seemed to have gone well. */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../../src/postgres/schema.js'

/** While `work` goes on, who has made a chat is refused at commit, with 23503. */
export async function whileChatsAreRefusedAtCommit(
  db: Kysely<Database>,
  work: () => Promise<void>,
): Promise<void> {
  await sql`
    create or replace function refuse_at_commit() returns trigger language plpgsql as
      $$ begin raise exception 'deferred' using errcode = '23503'; end $$`.execute(db)
  await sql`
    create constraint trigger refuse_at_commit after insert on messenger.chats
      deferrable initially deferred for each row execute function refuse_at_commit()`.execute(db)
  try {
    await work()
  } finally {
    await sql`drop function refuse_at_commit cascade`.execute(db)
  }
}
