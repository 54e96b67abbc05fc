-- The intention to make a deal's chat, one row per deal, and what this service keeps beside it.
-- The optimistic lock is PostgreSQL's own xmin: every writer takes part without a version column.

create table messenger.deal_chat_provisions (
  id              uuid         not null,
  deal_id         uuid         not null,
  chat_id         uuid,
  title           varchar(256) not null,
  project_id      uuid,
  deal_tenant_id  uuid,
  status          varchar(16)  not null default 'Provisioning',
  attempts        integer      not null default 0,
  next_attempt_at timestamptz  not null default now(),
  last_error      varchar(512),
  created_at      timestamptz  not null default now(),
  updated_at      timestamptz  not null default now(),
  constraint pk_deal_chat_provisions primary key (id),
  constraint ux_dcp_deal unique (deal_id),
  constraint ck_dcp_status check (status in ('Provisioning', 'Ready', 'Failed')),
  constraint ck_dcp_attempts check (attempts >= 0),
  constraint ck_dcp_ready_has_chat check (status <> 'Ready' or chat_id is not null)
);
create index ix_dcp_due on messenger.deal_chat_provisions (status, next_attempt_at);
-- Candidates, probed by status and attempts: rows that are out of attempts, or due later, lie apart and
-- are never walked over. Ready rows, nearly all there are, are not in it.
create index ix_dcp_open on messenger.deal_chat_provisions (status, attempts, next_attempt_at, id)
  where status <> 'Ready';
create index ix_dcp_tenant on messenger.deal_chat_provisions (deal_tenant_id);

create table messenger.deal_chat_provision_members (
  provision_id uuid        not null,
  user_id      uuid        not null,
  role         varchar(32) not null,
  constraint pk_deal_chat_provision_members primary key (provision_id, user_id),
  constraint fk_dcpm_provision foreign key (provision_id)
    references messenger.deal_chat_provisions (id) on delete cascade
);

-- Transactional outbox, shaped so that Debezium's EventRouter can relay the same table.
-- payload is json, not jsonb: its text is byte for byte what Kafka gets.
create table messenger.outbox_events (
  id               uuid        not null,
  seq              bigint      not null generated always as identity,
  aggregate_type   text        not null,
  aggregate_id     uuid        not null,
  type             text        not null,
  topic            text        not null,
  contract_version integer     not null,
  spec_version     text        not null default '1.0',
  payload          json        not null,
  correlation_id   uuid,
  traceparent      text,
  occurred_at      timestamptz not null default now(),
  published_at     timestamptz,
  superseded_at    timestamptz,
  skipped_at       timestamptz,
  parked_at        timestamptz,
  attempts         integer     not null default 0,
  next_attempt_at  timestamptz not null default now(),
  last_error       text,
  constraint pk_outbox_events primary key (id),
  constraint ux_outbox_events_seq unique (seq)
);
-- The relay selects by state: what is published, superseded, skipped or parked leaves this index, so
-- a poll costs the same behind a million published rows or ten thousand parked ones.
create index ix_outbox_pending on messenger.outbox_events (seq)
  where published_at is null and superseded_at is null and skipped_at is null and parked_at is null;
-- "Does an older event of this deal wait?", asked for each event that a poll reads. One expression
-- and not four conditions: without statistics the planner multiplies the four to one row, for which
-- reading the whole index is as cheap as a look-up in it.
create index ix_outbox_waiting on messenger.outbox_events (aggregate_id, next_attempt_at)
  where coalesce(published_at, superseded_at, skipped_at, parked_at) is null;
-- Parked ones: shown, counted, and superseded by deal.
create index ix_outbox_parked on messenger.outbox_events (aggregate_id, seq)
  where parked_at is not null
    and published_at is null and superseded_at is null and skipped_at is null;
-- The history of one deal, its newest event among them.
create index ix_outbox_aggregate on messenger.outbox_events (aggregate_id, seq);
-- What retention deletes, oldest first.
create index ix_outbox_finished on messenger.outbox_events
  ((coalesce(published_at, superseded_at, skipped_at)))
  where coalesce(published_at, superseded_at, skipped_at) is not null;
-- Each row is written twice and deleted once. At the default fifth of the table, a million rows of
-- history would let the pending indexes fill with two hundred thousand dead entries.
alter table messenger.outbox_events
  set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

create table messenger.chat_provision_runs (
  id          uuid        not null,
  started_at  timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  outcome     varchar(16),
  reason      text,
  as_of       timestamptz not null,
  claimed     integer     not null default 0,
  provisioned integer     not null default 0,
  retried     integer     not null default 0,
  failed      integer     not null default 0,
  skipped     integer     not null default 0,
  host        text        not null,
  constraint pk_chat_provision_runs primary key (id)
);
create index ix_chat_provision_runs_started on messenger.chat_provision_runs (started_at);
-- A run that never finished means that its worker died: looked for at each cycle's start.
create index ix_chat_provision_runs_open on messenger.chat_provision_runs (started_at)
  where finished_at is null;

create table messenger.chat_provision_audit (
  id       bigint      not null generated always as identity,
  at       timestamptz not null default clock_timestamp(),
  actor    text        not null,
  action   text        not null,
  deal_id  uuid,
  filter   text,
  reason   text        not null,
  affected integer     not null,
  constraint pk_chat_provision_audit primary key (id)
);
create index ix_chat_provision_audit_deal on messenger.chat_provision_audit (deal_id)
  where deal_id is not null;

create table messenger.intake_parked (
  id          uuid        not null,
  topic       text        not null,
  partition   integer     not null,
  "offset"    bigint      not null,
  key         bytea,
  value       bytea,
  error       text        not null,
  parked_at   timestamptz not null default clock_timestamp(),
  constraint pk_intake_parked primary key (id),
  constraint ux_intake_parked_position unique (topic, partition, "offset")
);
