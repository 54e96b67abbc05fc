-- What the messenger's own consumer of deal-created needs to take part in the protocol:
-- it writes the intention and, under the intention's row lock, the outbox event
-- (contracts/produce-event.sql). Run as the owner of schema messenger, after `migrate up`:
-- psql -v ON_ERROR_STOP=1 -v role=messenger_app -f messenger.sql

grant usage on schema messenger to :"role";
grant select, insert, update on messenger.deal_chat_provisions to :"role";
grant select, insert on messenger.deal_chat_provision_members to :"role";
grant select, insert on messenger.outbox_events to :"role";
