/**
 * An outbox row as a Kafka message: CloudEvents 1.0 in Kafka's binary mode. Key, value, headers and
 * their spelling are the contract (contracts/README.md); Debezium makes the same from the same row.
 */

import {
  aggregateType,
  contractFaults,
  contractVersion,
  eventType,
  isTopicName,
  isTraceparent,
} from './event-contract.js'
import type { OutgoingMessage } from './publisher.js'

/**
 * Key, headers and value together: what the contract's topic takes (max.message.bytes). One that is
 * larger must not even be sent: a broker cuts the connection of a request beyond its
 * socket.request.max.bytes, which looks like an outage, and one row would hold up all others.
 */
export const maxMessageBytes = 1_048_588

/** What Kafka adds to a record and to each header; generous, for the limits have room. */
const recordOverheadBytes = 64
const headerOverheadBytes = 8

/** What a writer calls its event may be long; what it begins with says enough. */
const quotedLength = 100

/** Of CloudEvents. */
const specVersion = '1.0'
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
  /** Null where it is larger than any message may be. */
  readonly payload: string | null
  readonly correlation_id: string | null
  readonly traceparent: string | null
  /** RFC 3339, UTC, six fraction digits; null where neither it nor a record's timestamp can tell it. */
  readonly occurred_at: string | null
  /** The same instant in Unix milliseconds. */
  readonly occurred_at_ms: number | null
}

/** The row can't be made into a message; `message` is the reason put on record with it. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
}

/**
 * @throws UnreadableEvent where type, versions, topic or payload are not what readers can take. The
 * check is the readers' tolerant one: the strict one was the writer's, and a later writer may know
 * more fields than this relay.
 */
export function toOutgoingMessage(row: OutboxRow): OutgoingMessage {
  if (!isTopicName(row.topic)) throw new UnreadableEvent('TOPIC_INVALID')
  if (row.type !== eventType)
    throw new UnreadableEvent(`TYPE_UNKNOWN: ${row.type.slice(0, quotedLength)}`)
  if (row.contract_version !== contractVersion) {
    throw new UnreadableEvent(`CONTRACT_VERSION_UNKNOWN: ${row.contract_version}`)
  }
  if (row.spec_version !== specVersion) {
    throw new UnreadableEvent(`SPEC_VERSION_UNKNOWN: ${row.spec_version.slice(0, quotedLength)}`)
  }
  if (row.aggregate_type !== aggregateType) {
    throw new UnreadableEvent(
      `AGGREGATE_TYPE_UNKNOWN: ${row.aggregate_type.slice(0, quotedLength)}`,
    )
  }
  if (row.occurred_at === null || row.occurred_at_ms === null) {
    throw new UnreadableEvent('OCCURRED_AT_INVALID: not between the years 1970 and 9999')
  }
  if (row.payload === null) throw tooLarge()
  const faults = contractFaults('reader', row.payload)
  if (faults !== undefined) throw new UnreadableEvent(`PAYLOAD_INVALID: ${faults}`)
  // By the key consumers get a deal's events in order, and compaction keeps its last one.
  const { DealId: dealId } = JSON.parse(row.payload) as { DealId: string }
  if (dealId.toLowerCase() !== row.aggregate_id) {
    throw new UnreadableEvent('DEAL_MISMATCH: the payload tells of another deal than aggregate_id')
  }
  const message = {
    key: row.aggregate_id,
    headers: headersOf(row, row.occurred_at),
    value: row.payload,
    timestampMs: row.occurred_at_ms,
  }
  if (bytesOf(message) > maxMessageBytes) throw tooLarge()
  return message
}

/** Its size in a batch, rather above than below what Kafka makes of it. */
export function bytesOf({ key, value, headers }: OutgoingMessage): number {
  let bytes = recordOverheadBytes + key.length + Buffer.byteLength(value)
  for (const [name, header] of Object.entries(headers)) {
    bytes += headerOverheadBytes + name.length + Buffer.byteLength(header)
  }
  return bytes
}

function tooLarge(): UnreadableEvent {
  return new UnreadableEvent(`MESSAGE_TOO_LARGE: more than ${maxMessageBytes} bytes`)
}

function headersOf(row: OutboxRow, occurredAt: string): Record<string, string> {
  const headers: Record<string, string | null> = {
    ce_specversion: row.spec_version,
    ce_id: row.id,
    ce_type: row.type,
    ce_source: eventSource,
    ce_time: occurredAt,
    ce_subject: row.aggregate_id,
    ce_sequence: row.seq,
    'content-type': 'application/json',
    'contract-version': String(row.contract_version),
    'aggregate-type': row.aggregate_type,
    'aggregate-id': row.aggregate_id,
    'correlation-id': row.correlation_id,
    // Whoever wrote it wrongly loses the trace, not the event.
    traceparent:
      row.traceparent !== null && isTraceparent(row.traceparent) ? row.traceparent : null,
  }
  // kafkajs throws on a null header, and an empty one would say that there is something.
  return Object.fromEntries(
    Object.entries(headers).filter((header): header is [string, string] => Boolean(header[1])),
  )
}
