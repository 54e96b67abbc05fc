/**
 * The one place that tells what an error of kafkajs means for the messages that were sent.
 *
 * kafkajs wraps: KafkaJSNumberOfRetriesExceeded and KafkaJSNonRetriableError carry the real failure
 * in `cause`, at times two deep, so the innermost one is judged.
 */

import type { PublishOutcome } from './publisher.js'

export type PublishFailure = Exclude<PublishOutcome, { kind: 'published' | 'abandoned' }>

/** What a broker answers when the record itself, or the batch's size, is at fault. */
const rejectedTypes = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  // A compacted topic answers so for a record without a key.
  'CORRUPT_MESSAGE',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  // An unexpected failure inside the broker while it handled this batch. Taken as the batch's own:
  // taken as the transport's, one record that upsets the broker would hold all others for ever.
  'UNKNOWN',
])

/** The topic is missing, not permitted, or short of replicas: other topics may still work. */
const topicTypes = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'TOPIC_AUTHORIZATION_FAILED',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'NOT_ENOUGH_REPLICAS',
])

/** Refused before anything was stored, for reasons that concern every topic. */
const transportTypes = new Set([
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'ILLEGAL_SASL_STATE',
  'BROKER_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
])

const metadataErrors = new Set(['KafkaJSMetadataNotLoaded', 'KafkaJSTopicMetadataNotLoaded'])

/** Before a send: whatever went wrong, no message has left. */
export function classifyConnectError(error: unknown): PublishFailure {
  const cause = innermost(error)
  const scope = topicTypes.has(stringField(cause, 'type') ?? '') ? 'topic' : 'transport'
  return { kind: 'unavailable', scope, reason: describe(cause) }
}

/** During a send: what isn't known to have been refused may have been stored. */
export function classifySendError(error: unknown): PublishFailure {
  const cause = innermost(error)
  const reason = describe(cause)
  const type = stringField(cause, 'type')
  if (type !== undefined) {
    if (rejectedTypes.has(type)) return { kind: 'rejected', reason }
    if (topicTypes.has(type)) return { kind: 'unavailable', scope: 'topic', reason }
    if (transportTypes.has(type)) return { kind: 'unavailable', scope: 'transport', reason }
    return { kind: 'unknown', reason }
  }
  if (!(cause instanceof Error)) return { kind: 'unknown', reason }
  if (metadataErrors.has(cause.name)) return { kind: 'unavailable', scope: 'topic', reason }
  if (cause.name === 'KafkaJSSASLAuthenticationError' || isRefusedConnection(cause)) {
    return { kind: 'unavailable', scope: 'transport', reason }
  }
  // kafkajs could not encode the message: it would fail the same way for ever.
  if (cause instanceof TypeError || cause instanceof RangeError) return { kind: 'rejected', reason }
  return { kind: 'unknown', reason }
}

/** Never connected, so nothing was sent on that connection; other brokers had no part in it. */
function isRefusedConnection(error: Error): boolean {
  const code = stringField(error, 'code')
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN'
}

function innermost(error: unknown): unknown {
  let current = error
  // Three levels are the most that kafkajs builds; the bound is for an error that is its own cause.
  for (let depth = 0; depth < 5; depth += 1) {
    if (!(current instanceof Error) || current.cause === undefined) return current
    current = current.cause
  }
  return current
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const label = stringField(error, 'type') ?? stringField(error, 'code') ?? error.name
  return `${label}: ${error.message}`
}

function stringField(error: unknown, field: 'type' | 'code'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const value = (error as Partial<Record<typeof field, unknown>>)[field]
  return typeof value === 'string' ? value : undefined
}
