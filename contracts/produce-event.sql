-- How another producer of the topic, the messenger's own consumer of deal-created among them,
-- writes DealChatStatusChanged. One statement, PostgreSQL 15 to 18, six parameters:
--   $1 deal_id uuid   $2 chat_id uuid or null   $3 status: Provisioning, Ready or Failed
--   $4 correlation_id uuid or null   $5 traceparent text or null   $6 topic
--
-- The rule that makes it work: run it in the transaction that changed the deal's row in
-- messenger.deal_chat_provisions, after that row is locked (by its insert, its update, or
-- `select … for update`). Consumers order by seq, and only under that lock does seq rise per deal
-- in commit order. Empty strings are not nulls: pass null for what there is not.

with clock as materialized (
  -- Taken once, cut to milliseconds: payload, column, ce_time and record timestamp agree.
  select date_trunc('milliseconds', clock_timestamp()) as occurred_at
)
insert into messenger.outbox_events
  (id, aggregate_type, aggregate_id, type, topic, contract_version,
   payload, correlation_id, traceparent, occurred_at)
select
  -- A UUIDv7: 48 bits of milliseconds over a random UUID, version 4 made 7 by two bits.
  -- (On PostgreSQL 18, uuidv7() does the same.)
  encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from occurred_at) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid,
  'DealChatProvision', $1::uuid, 'DealChatStatusChanged', $6::text, 1,
  concat(
    '{"DealId":"', $1::uuid,
    '","ChatId":', coalesce('"' || $2::uuid || '"', 'null'),
    ',"Status":"', $3::text,
    '","OccurredAt":"',
    to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"}'
  )::json,
  $4::uuid, $5::text, occurred_at
from clock
returning id;
