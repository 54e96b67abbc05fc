/**
 * What every event of this service carries besides its payload, and the check of an event against
 * the published contract (contracts/deal-chat-status-changed.v1.schema.json).
 */

import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

export const eventType = 'DealChatStatusChanged'
export const aggregateType = 'DealChatProvision'
export const contractVersion = 1

/**
 * Bytes of one payload. The contract's own fields need 170; a broker refuses a record from 1 MB on,
 * and one that large would be a mistake long before.
 */
const maxPayloadBytes = 4096

/** Kafka's own rule for topic names (org.apache.kafka.common.internals.Topic). */
const topicPattern = /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/

/** W3C trace context, level 1: version-traceid-parentid-flags. */
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** An event that must not be written: the caller's transaction fails with it. */
export class ContractViolation extends Error {
  constructor(what: string) {
    super(`The event breaks its contract: ${what}`)
    this.name = 'ContractViolation'
  }
}

export interface WrittenEvent {
  readonly topic: string
  readonly traceparent: string | null
  /** The JSON text, byte for byte what Kafka will get. */
  readonly payload: string
}

/** @throws ContractViolation, which names the rule but never quotes the payload. */
export function assertKeepsContract(event: WrittenEvent): void {
  if (!topicPattern.test(event.topic))
    throw new ContractViolation('topic is not a Kafka topic name')
  if (event.traceparent !== null && !traceparentPattern.test(event.traceparent)) {
    throw new ContractViolation('traceparent is not of the form version-traceid-parentid-flags')
  }
  if (Buffer.byteLength(event.payload) > maxPayloadBytes) {
    throw new ContractViolation(`payload is larger than ${String(maxPayloadBytes)} bytes`)
  }
  const validate = payloadValidator()
  if (!validate(JSON.parse(event.payload))) {
    const faults = validate.errors ?? []
    throw new ContractViolation(
      faults.map((fault) => `${fault.instancePath} ${fault.message ?? fault.keyword}`).join('; '),
    )
  }
}

let compiled: ValidateFunction | undefined

/** Compiled at the first event, for a command that writes none should not pay for it. */
function payloadValidator(): ValidateFunction {
  if (compiled === undefined) {
    const schema = new URL(
      '../../contracts/deal-chat-status-changed.v1.schema.json',
      import.meta.url,
    )
    const ajv = new Ajv2020({ allErrors: true })
    addFormats.default(ajv)
    compiled = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')) as object)
  }
  return compiled
}
