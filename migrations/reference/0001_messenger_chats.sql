-- A reference layout of the tables that the messenger owns and this service writes.
-- An adopter's real tables may carry more columns; see the port in src/provisioning/messenger-chats.ts.

create table messenger.chats (
  id             uuid         not null,
  kind           varchar(16)  not null,
  status         varchar(16)  not null,
  deal_id        uuid,
  title          varchar(256) not null,
  project_id     uuid,
  deal_tenant_id uuid,
  created_at     timestamptz  not null default now(),
  updated_at     timestamptz  not null default now(),
  constraint pk_chats primary key (id),
  -- INV-CHAT-2: at most one chat per deal.
  constraint ux_chats_deal_id unique (deal_id)
);

create table messenger.participants (
  id        uuid        not null,
  chat_id   uuid        not null,
  user_id   uuid        not null,
  role      varchar(32) not null,
  joined_at timestamptz not null default now(),
  left_at   timestamptz,
  constraint pk_participants primary key (id),
  constraint fk_participants_chat foreign key (chat_id) references messenger.chats (id),
  -- INV-PART-1: at most one row per chat and user; one who left is reactivated.
  constraint ux_participants_chat_user unique (chat_id, user_id)
);

create table messenger.chat_events (
  id             uuid        not null,
  chat_id        uuid        not null,
  type           varchar(64) not null,
  actor          varchar(32) not null,
  correlation_id uuid,
  occurred_at    timestamptz not null default now(),
  constraint pk_chat_events primary key (id),
  constraint fk_chat_events_chat foreign key (chat_id) references messenger.chats (id)
);
-- INV-CE-2: one DealChatProvisioned feed row per chat.
create unique index ux_chat_events_provisioned on messenger.chat_events (chat_id)
  where type = 'DealChatProvisioned';
