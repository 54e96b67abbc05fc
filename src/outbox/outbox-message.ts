/**
 * An outbox row as a Kafka message: CloudEvents 1.0 in Kafka's binary mode. Key, value, headers and
 * their spelling are the contract (contracts/README.md); Debezium makes the same from the same row.
 */

import { contractFaults, contractVersion, eventType, isTopicName } from './event-contract.js'
import type { OutgoingMessage } from './publisher.js'

const eventSource = '/messenger/chat-provision-retry'

/** A row as `select-due-events` reads it: text where JavaScript would change the value. */
export interface OutboxRow {
  readonly id: string
  readonly seq: string
  readonly aggregate_type: string
  readonly aggregate_id: string
  readonly type: string
  readonly topic: string
  readonly contract_version: number
  readonly spec_version: string
  readonly payload: string
  readonly correlation_id: string | null
  readonly traceparent: string | null
  /** RFC 3339, UTC, six fraction digits. */
  readonly occurred_at: string
  /** The same instant in Unix milliseconds. */
  readonly occurred_at_ms: number
}

/** The row can't be made into a message; `message` is the reason put on record with it. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
}

/**
 * @throws UnreadableEvent where type, version, topic or payload are not what readers can take. The
 * check is the readers' tolerant one: the strict one was the writer's, and a later writer may know
 * more fields than this relay.
 */
export function toOutgoingMessage(row: OutboxRow): OutgoingMessage {
  if (!isTopicName(row.topic)) throw new UnreadableEvent('TOPIC_INVALID')
  if (row.type !== eventType) throw new UnreadableEvent(`TYPE_UNKNOWN: ${row.type}`)
  if (row.contract_version !== contractVersion) {
    throw new UnreadableEvent(`CONTRACT_VERSION_UNKNOWN: ${row.contract_version}`)
  }
  const faults = contractFaults('reader', row.payload)
  if (faults !== undefined) throw new UnreadableEvent(`PAYLOAD_INVALID: ${faults}`)
  return {
    key: row.aggregate_id,
    headers: headersOf(row),
    value: row.payload,
    timestampMs: row.occurred_at_ms,
  }
}

function headersOf(row: OutboxRow): Record<string, string> {
  const headers: Record<string, string | null> = {
    ce_specversion: row.spec_version,
    ce_id: row.id,
    ce_type: row.type,
    ce_source: eventSource,
    ce_time: row.occurred_at,
    ce_subject: row.aggregate_id,
    ce_sequence: row.seq,
    'content-type': 'application/json',
    'contract-version': String(row.contract_version),
    'aggregate-type': row.aggregate_type,
    'aggregate-id': row.aggregate_id,
    'correlation-id': row.correlation_id,
    traceparent: row.traceparent,
  }
  // kafkajs throws on a null header, and an empty one would say that there is something.
  return Object.fromEntries(
    Object.entries(headers).filter((header): header is [string, string] => Boolean(header[1])),
  )
}
