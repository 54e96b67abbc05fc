-- What the worker's role may do, and no more. Run as the owner of both schemas, once `migrate up` and the
-- messenger's own tables are there: psql -v ON_ERROR_STOP=1 -f worker.sql. Without that setting psql goes on
-- after an error and ends with 0.
-- Making the role needs CREATEROLE: an owner without it has it made first (create role chat_provision_retry nologin).
-- Make a login role of your own and put it into this one: grant chat_provision_retry to my_login;

do $$ begin
  if not exists (select from pg_roles where rolname = 'chat_provision_retry') then
    create role chat_provision_retry nologin;
  end if;
end $$;

grant usage on schema messenger to chat_provision_retry;

-- The service's own tables. It never makes or deletes an intention; the intake makes them.
grant select, insert, update on messenger.deal_chat_provisions to chat_provision_retry;
grant select, insert on messenger.deal_chat_provision_members to chat_provision_retry;
-- Delete is the retention's.
grant select, insert, update, delete on messenger.outbox_events to chat_provision_retry;
grant select, insert, update, delete on messenger.chat_provision_runs to chat_provision_retry;
grant select, insert, delete on messenger.chat_provision_attempts to chat_provision_retry;
grant select, insert on messenger.chat_provision_audit to chat_provision_retry;
-- Requests that were carried out, for as long as they may come again.
grant select, insert, update, delete on messenger.operator_requests to chat_provision_retry;
-- Delete is the operator's, who has had a parked message taken in or has discarded it.
grant select, insert, delete on messenger.intake_parked to chat_provision_retry;
grant select on messenger.chat_provision_migrations to chat_provision_retry;

-- The messenger's tables: nothing is ever removed, and of a participant only left_at changes.
grant select, insert on messenger.chats to chat_provision_retry;
grant select, insert, update (left_at) on messenger.participants to chat_provision_retry;
grant select, insert on messenger.chat_events to chat_provision_retry;

-- The retry core. Row locks need the right to update; nothing that has ended is ever rewritten.
grant usage on schema chokaq to chat_provision_retry;
grant usage on sequence chokaq.lease_tokens to chat_provision_retry;
grant select, insert, update, delete on chokaq.jobs_hot to chat_provision_retry;
grant select, insert, update (modified_by), delete on chokaq.jobs_archive to chat_provision_retry;
grant select, insert, update (modified_by), delete on chokaq.jobs_dlq to chat_provision_retry;
grant select, insert, update on chokaq.queues to chat_provision_retry;
grant select, insert, update, delete on chokaq.metric_buckets to chat_provision_retry;
grant select, insert, update on chokaq.stats_summary to chat_provision_retry;
