/**
 * The tables as kysely sees them, one interface a table, column names as in the database.
 * timestamptz reads as Date (milliseconds); where microseconds decide, a statement casts to text.
 */

import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

export interface Database {
  'messenger.deal_chat_provisions': DealChatProvisions
  'messenger.deal_chat_provision_members': DealChatProvisionMembers
  'messenger.chat_provision_attempts': ChatProvisionAttempts
  'messenger.outbox_events': OutboxEvents
  'messenger.chat_provision_runs': ChatProvisionRuns
  'messenger.chat_provision_audit': ChatProvisionAudit
  'messenger.operator_requests': OperatorRequests
  'messenger.intake_parked': IntakeParked
  'messenger.chat_provision_migrations': ChatProvisionMigrations
  'messenger.chats': Chats
  'messenger.participants': Participants
  'messenger.chat_events': ChatEvents
}

export type ProvisionStatus = 'Provisioning' | 'Ready' | 'Failed'

/** Dates are written as Date, or as text that PostgreSQL reads (microseconds kept). */
type Timestamp = ColumnType<Date, Date | string, Date | string>
type DefaultedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>
type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>

export interface DealChatProvisions {
  id: string
  deal_id: string
  chat_id: string | null
  title: string
  project_id: string | null
  deal_tenant_id: string | null
  status: Generated<ProvisionStatus>
  attempts: Generated<number>
  next_attempt_at: DefaultedTimestamp
  last_error: string | null
  created_at: DefaultedTimestamp
  updated_at: DefaultedTimestamp
}

export interface DealChatProvisionMembers {
  provision_id: string
  user_id: string
  role: string
}

export interface ChatProvisionAttempts {
  provision_id: string
  id: GeneratedAlways<string>
  attempt: number
  failed_at: DefaultedTimestamp
  error: string
  duration_ms: number | null
  next_attempt_at: Timestamp
  run_id: string | null
}

export interface OutboxEvents {
  id: string
  seq: GeneratedAlways<string>
  aggregate_type: string
  aggregate_id: string
  type: string
  topic: string
  contract_version: number
  spec_version: Generated<string>
  /** json: written as text, and read as `payload::text`, for pg would parse it. */
  payload: ColumnType<unknown, string, never>
  correlation_id: string | null
  traceparent: string | null
  occurred_at: DefaultedTimestamp
  published_at: NullableTimestamp
  superseded_at: NullableTimestamp
  skipped_at: NullableTimestamp
  parked_at: NullableTimestamp
  attempts: Generated<number>
  next_attempt_at: DefaultedTimestamp
  last_error: string | null
}

export interface ChatProvisionRuns {
  id: string
  started_at: DefaultedTimestamp
  finished_at: NullableTimestamp
  outcome: string | null
  reason: string | null
  as_of: Timestamp
  claimed: Generated<number>
  provisioned: Generated<number>
  retried: Generated<number>
  failed: Generated<number>
  skipped: Generated<number>
  host: string
}

export interface ChatProvisionAudit {
  id: GeneratedAlways<string>
  at: DefaultedTimestamp
  actor: string
  action: string
  deal_id: string | null
  filter: string | null
  reason: string
  affected: number
  /** json: written as text or by an expression, read by its fields. */
  before: ColumnType<unknown, string | null | undefined, never>
  undoes: string | null
  request_id: string | null
}

export interface OperatorRequests {
  id: string
  asked: string
  runner: string
  begun_at: DefaultedTimestamp
  /** json: written as text. */
  outcome: ColumnType<unknown, string | null | undefined, string | null>
}

export interface IntakeParked {
  id: string
  topic: string
  partition: number
  offset: string
  key: Buffer | null
  value: Buffer | null
  error: string
  parked_at: DefaultedTimestamp
}

export interface ChatProvisionMigrations {
  migration_set: 'service' | 'reference'
  version: number
  name: string
  breaking: boolean
  applied_at: DefaultedTimestamp
}

export interface Chats {
  id: string
  kind: string
  status: string
  deal_id: string | null
  title: string
  project_id: string | null
  deal_tenant_id: string | null
  created_at: DefaultedTimestamp
  updated_at: DefaultedTimestamp
}

export interface Participants {
  id: string
  chat_id: string
  user_id: string
  role: string
  joined_at: DefaultedTimestamp
  left_at: NullableTimestamp
}

export interface ChatEvents {
  id: string
  chat_id: string
  type: string
  actor: string
  correlation_id: string | null
  occurred_at: DefaultedTimestamp
}
