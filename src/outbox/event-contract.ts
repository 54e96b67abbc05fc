/**
 * What every event of this service carries besides its payload, and the check of a payload against
 * the published contract: contracts/deal-chat-status-changed.v1.schema.json for what is written,
 * the tolerant reader's variant for what is relayed.
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

/** W3C trace context, level 1: version-traceid-parentid-flags. */
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** An event that must not be written: the caller's transaction fails with it. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation'

  constructor(what: string) {
    super(`The event breaks its contract: ${what}`)
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
  assertSendable(event)
  if (Buffer.byteLength(event.payload) > maxPayloadBytes) {
    throw new ContractViolation(`payload is larger than ${String(maxPayloadBytes)} bytes`)
  }
  const faults = contractFaults('producer', event.payload)
  if (faults !== undefined) throw new ContractViolation(faults)
}

/** @throws ContractViolation where what goes beside the payload could not be sent */
export function assertSendable(event: Pick<WrittenEvent, 'topic' | 'traceparent'>): void {
  if (!isTopicName(event.topic)) throw new ContractViolation('topic is not a Kafka topic name')
  if (event.traceparent !== null && !isTraceparent(event.traceparent)) {
    throw new ContractViolation('traceparent is not of the form version-traceid-parentid-flags')
  }
}

export function isTraceparent(text: string): boolean {
  return traceparentPattern.test(text)
}

/** Kafka's own rule for topic names (org.apache.kafka.common.internals.Topic). */
export function isTopicName(name: string): boolean {
  return /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/.test(name)
}

/** The rules that the JSON text breaks, in one line without its values; undefined when it is fine. */
export function contractFaults(side: 'producer' | 'reader', payload: string): string | undefined {
  const validate = validatorOf(side)
  if (validate(JSON.parse(payload))) return undefined
  const faults = validate.errors ?? []
  return faults
    .map(({ instancePath, message, keyword }) => `${instancePath} ${message ?? keyword}`.trim())
    .join('; ')
}

const schemaFiles = {
  producer: 'deal-chat-status-changed.v1.schema.json',
  reader: 'deal-chat-status-changed.v1.reader.schema.json',
}
const compiled: Partial<Record<keyof typeof schemaFiles, ValidateFunction>> = {}

/** Compiled at the first event, for a command that handles none should not pay for it. */
function validatorOf(side: keyof typeof schemaFiles): ValidateFunction {
  return (compiled[side] ??= compile(schemaFiles[side]))
}

function compile(file: string): ValidateFunction {
  const text = readFileSync(new URL(`../../contracts/${file}`, import.meta.url), 'utf8')
  const ajv = new Ajv2020({ allErrors: true })
  addFormats.default(ajv)
  return ajv.compile(JSON.parse(text) as object)
}
