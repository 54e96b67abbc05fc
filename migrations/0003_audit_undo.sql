-- An operator's change can be taken back while nothing has come of it: its line in the audit keeps what
-- that takes, and the line of the undo names it.

alter table messenger.chat_provision_audit
  -- What was before the change, and by what it is seen that nobody has changed it since.
  add column before json,
  add column undoes bigint,
  add constraint fk_audit_undoes foreign key (undoes)
    references messenger.chat_provision_audit (id);
-- A line is taken back once, whoever is quicker.
create unique index ux_chat_provision_audit_undoes on messenger.chat_provision_audit (undoes)
  where undoes is not null;
