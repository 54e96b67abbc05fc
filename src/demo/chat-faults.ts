/**
 * Makes the messenger's table of chats fail on purpose, deal by deal: a trigger raises whatever
 * SQLSTATE is set down for the deal. For the demo and the tests; production never sees it.
 */

import { sql, type Kysely } from 'kysely'
import type { Database } from '../postgres/schema.js'

/** Needs the right to make a schema and, for '57P01', to end sessions. */
export async function installChatFaults(db: Kysely<Database>): Promise<void> {
  await sql`create schema if not exists chat_faults`.execute(db)
  await sql`
    create table if not exists chat_faults.faults (
      deal_id        uuid primary key,
      sqlstate       char(5) not null,
      -- Attempts that the fault spoils; afterwards the deal goes through.
      spoils         integer not null
    )
  `.execute(db)
  await sql
    .raw(
      `
    create or replace function chat_faults.raise_fault() returns trigger
      language plpgsql security definer as $$
    declare fault record;
    begin
      select f.sqlstate into fault from chat_faults.faults f
        join messenger.deal_chat_provisions p on p.deal_id = f.deal_id
        where f.deal_id = new.deal_id
          -- An attempt put on record before its work counts already.
          and p.attempts - (p.last_error is not distinct from 'crash:WORKER_DIED')::int < f.spoils;
      if not found then return new; end if;
      -- The server raises this one itself when a session is ended.
      if fault.sqlstate = '57P01' then
        perform pg_terminate_backend(pg_backend_pid());
        perform pg_sleep(1);
      end if;
      raise exception 'a fault made on purpose' using errcode = fault.sqlstate;
    end $$
  `,
    )
    .execute(db)
  await sql`
    create or replace trigger chat_faults before insert on messenger.chats
      for each row execute function chat_faults.raise_fault()
  `.execute(db)
}

export interface ChatFault {
  readonly dealId: string
  /** For example '40P01' (deadlock), '23514' (check), '57P01' (the session is ended). */
  readonly sqlstate: string
  /** Attempts that it spoils; default all. */
  readonly spoils?: number
}

export async function setChatFault(db: Kysely<Database>, fault: ChatFault): Promise<void> {
  const everyAttempt = 2 ** 31 - 1
  await sql`
    insert into chat_faults.faults (deal_id, sqlstate, spoils)
    values (${fault.dealId}, ${fault.sqlstate}, ${fault.spoils ?? everyAttempt})
  `.execute(db)
}
