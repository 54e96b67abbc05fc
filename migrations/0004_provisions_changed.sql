-- The list of provisions, most recently changed first: its first page, and each one after, reads as many
-- rows as it shows. Without it a list sorts the whole table.
create index ix_dcp_changed on messenger.deal_chat_provisions (updated_at, id);
