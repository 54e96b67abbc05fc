/**
 * Reads the topic as crm does: the last write wins by `ce_sequence`, and what comes again is dropped.
 * Pure; where the messages come from is the caller's.
 */

import { contractFaults } from '../outbox/event-contract.js'
import type { ProvisionStatus } from '../postgres/schema.js'

export interface ReceivedMessage {
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly value: string | null
}

export interface SeenEvent {
  readonly status: ProvisionStatus
  readonly chatId: string | null
  readonly sequence: bigint
}

interface Payload {
  readonly DealId: string
  readonly ChatId: string | null
  readonly Status: ProvisionStatus
}

export class CrmReader {
  readonly #deals: ReadonlySet<string>
  readonly #seen = new Map<string, SeenEvent[]>()
  readonly #faults: string[] = []
  #events = 0
  #redelivered = 0

  /** @param deals the ones to read about; a topic may hold events of others, from earlier */
  constructor(deals: Iterable<string>) {
    this.#deals = new Set(deals)
  }

  take(message: ReceivedMessage): void {
    const dealId = message.key
    if (dealId === null || !this.#deals.has(dealId)) return
    const payload = this.#read(dealId, message)
    if (payload === undefined) return
    const sequence = BigInt(message.headers['ce_sequence'] ?? '')
    const events = this.#seen.get(dealId) ?? []
    const last = events.at(-1)
    if (last !== undefined && sequence <= last.sequence) {
      const known = events.some((event) => event.sequence === sequence)
      if (known) this.#redelivered += 1
      else this.#faults.push(`${dealId}: an event came first after a later one of its deal`)
      return
    }
    this.#events += 1
    events.push({ status: payload.Status, chatId: payload.ChatId, sequence })
    this.#seen.set(dealId, events)
  }

  /** What changed the deal's ChatStatus, in order; the last one is what crm shows. */
  seen(dealId: string): readonly SeenEvent[] {
    return this.#seen.get(dealId) ?? []
  }

  get counts(): { readonly events: number; readonly redelivered: number } {
    return { events: this.#events, redelivered: this.#redelivered }
  }

  /** Messages that break the contract: there must be none. */
  get faults(): readonly string[] {
    return this.#faults
  }

  #read(dealId: string, { headers, value }: ReceivedMessage): Payload | undefined {
    const fault = faultOf(dealId, headers, value)
    if (fault === undefined) return JSON.parse(value ?? '') as Payload
    this.#faults.push(`${dealId}: ${fault}`)
    return undefined
  }
}

function faultOf(
  dealId: string,
  headers: Readonly<Record<string, string>>,
  value: string | null,
): string | undefined {
  if (!/^\d+$/.test(headers['ce_sequence'] ?? '')) return 'no ce_sequence'
  if (headers['ce_subject'] !== dealId) return 'ce_subject is not the key'
  if (value === null) return 'no value'
  try {
    const faults = contractFaults('producer', value)
    if (faults !== undefined) return faults
  } catch {
    return 'the value is not JSON'
  }
  return (JSON.parse(value) as Payload).DealId === dealId ? undefined : 'DealId is not the key'
}
