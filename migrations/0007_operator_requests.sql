-- A form or a call of the API that is sent twice, by a double click, a reload or a retry, is carried out
-- once, by whichever instance and after a restart too: its id is claimed here, and its outcome kept for
-- whoever sends it again. The service deletes old ones.

create table messenger.operator_requests (
  -- A digest: the request's own id, and where it was sent.
  id       text        not null,
  -- A digest of what it asks: the same id with other content is another request.
  asked    text        not null,
  -- Of the try that is under way, by which it knows its own claim.
  runner   uuid        not null,
  begun_at timestamptz not null default clock_timestamp(),
  -- Null: under way, or broken off.
  outcome  json,
  constraint pk_operator_requests primary key (id)
);

-- Written with each change, so that a request which was broken off after some rows goes on with the rest.
alter table messenger.chat_provision_audit add column request_id text;
create unique index ux_chat_provision_audit_request
  on messenger.chat_provision_audit (request_id, action, deal_id, filter)
  nulls not distinct where request_id is not null;
