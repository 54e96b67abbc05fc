-- What a deal's attempts failed of, one after the other: last_error tells of the last one alone, and not
-- whether it is another failure than the one before. Written by the statement that records the failure; an
-- attempt that succeeds writes nothing here. A program of before leaves its own failures out.

create table messenger.chat_provision_attempts (
  provision_id    uuid         not null,
  id              bigint       not null generated always as identity,
  -- As the row counted it; 0 is the intake's own try.
  attempt         integer      not null,
  failed_at       timestamptz  not null default clock_timestamp(),
  -- class:code, as last_error; never personal data, so no message either.
  error           varchar(512) not null,
  -- Null where nobody lived to tell.
  duration_ms     integer,
  next_attempt_at timestamptz  not null,
  run_id          uuid,
  constraint pk_chat_provision_attempts primary key (provision_id, id),
  constraint fk_dcpa_provision foreign key (provision_id)
    references messenger.deal_chat_provisions (id) on delete cascade
);
-- What retention deletes, oldest first.
create index ix_chat_provision_attempts_failed on messenger.chat_provision_attempts (failed_at);
