/**
 * A message of the topic as an event, or why it is none. Tolerant: what a later producer adds is
 * passed over, and ids are taken in any case.
 */

export interface IncomingMessage {
  readonly key: Buffer | string | null
  readonly value: Buffer | string | null
  readonly headers?: Readonly<Record<string, Buffer | string | null | undefined>>
}

export type ChatStatus = 'Provisioning' | 'Ready' | 'Failed'

export interface DealChatStatusChanged {
  /** The same on every redelivery. */
  readonly eventId: string | undefined
  readonly dealId: string
  readonly chatId: string | null
  readonly status: ChatStatus
  readonly occurredAt: Date
  /** Rises per deal. Up to 2^63-1, more than a number holds exactly. */
  readonly sequence: bigint
}

export type ReadResult =
  | { readonly kind: 'event'; readonly event: DealChatStatusChanged }
  /** A null value, by which a compacted topic forgets a key. It is not a status: leave it. */
  | { readonly kind: 'tombstone' }
  /** Not known to this version. It is no news for a reader that can't show it: leave it. */
  | { readonly kind: 'unknown status'; readonly status: string }
  /** Breaks the contract: put it aside and tell someone; don't block the partition by it. */
  | { readonly kind: 'unreadable'; readonly reason: string }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const statuses: readonly string[] = ['Provisioning', 'Ready', 'Failed'] satisfies ChatStatus[]

export function readMessage(message: IncomingMessage): ReadResult {
  if (message.value === null) return { kind: 'tombstone' }
  const sequence = headerOf(message, 'ce_sequence')
  if (sequence === undefined || !/^\d{1,19}$/.test(sequence)) return unreadable('no ce_sequence')
  const value = parse(String(message.value))
  if (value === undefined) return unreadable('the value is no JSON object')
  const dealId = lowerCase(value['DealId'])
  if (dealId === undefined) return unreadable('DealId is no UUID')
  const given = value['ChatId'] ?? null
  const chatId = given === null ? null : lowerCase(given)
  if (chatId === undefined) return unreadable('ChatId is no UUID')
  const occurredAt = new Date(String(value['OccurredAt']))
  if (Number.isNaN(occurredAt.getTime())) return unreadable('OccurredAt is no time')
  const { Status: status } = value
  if (typeof status !== 'string' || status === '') return unreadable('Status is no text')
  if (!isKnown(status)) return { kind: 'unknown status', status }
  const eventId = headerOf(message, 'ce_id')
  const event = { eventId, dealId, chatId, status, occurredAt, sequence: BigInt(sequence) }
  return { kind: 'event', event }
}

/** Absent and null are the same: Debezium sends a null header where our relay sends none. */
function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers?.[name]
  return value === undefined || value === null ? undefined : String(value)
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function lowerCase(id: unknown): string | undefined {
  const text = typeof id === 'string' ? id.toLowerCase() : ''
  return uuid.test(text) ? text : undefined
}

function isKnown(status: string): status is ChatStatus {
  return statuses.includes(status)
}

function unreadable(reason: string): ReadResult {
  return { kind: 'unreadable', reason }
}
