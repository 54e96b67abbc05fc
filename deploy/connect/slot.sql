-- What Debezium needs in the database, made once by a superuser, before Connect's first start:
--   psql -v ON_ERROR_STOP=1 -d messenger -f slot.sql
-- and then, at the psql prompt: \password outbox_relay
--
-- Never part of `migrate`: a slot that nobody reads keeps WAL until the disk is full
-- (runbooks/outbox-slot.md). The server needs wal_level = logical, and max_slot_wal_keep_size set.

-- REPLICATION is enough to read every change of the database, so guard this password.
create role outbox_relay login replication;

-- Inserts alone: a relay's marks and retention's deletions are nobody's news.
create publication pin_messenger_outbox for table messenger.outbox_events
  with (publish = 'insert');

-- For a snapshot, which recovery from a lost slot takes.
grant usage on schema messenger to outbox_relay;
grant select on messenger.outbox_events to outbox_relay;

-- Last, and by itself: PostgreSQL refuses it in a transaction that has written.
select pg_create_logical_replication_slot('pin_messenger_outbox', 'pgoutput');
