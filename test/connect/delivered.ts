/** What a topic holds, made comparable between two relays. */

import type { TopicMessage } from '../support/kafka.js'

/** All that both relays promise to make alike: not the offset, nor the record's timestamp. */
export function comparable(message: TopicMessage): object {
  // A null header reads as an empty one, and counts as absent.
  const headers = Object.entries(message.headers).filter(([, value]) => value !== '')
  return {
    partition: message.partition,
    key: message.key,
    value: message.value?.toString('hex'),
    headers: Object.fromEntries(headers),
  }
}

/** By `ce_id`, in the order of each partition. */
export function firstDeliveries(messages: readonly TopicMessage[]): Map<string, TopicMessage> {
  const first = new Map<string, TopicMessage>()
  for (const message of messages) {
    const id = message.headers['ce_id'] ?? ''
    if (!first.has(id)) first.set(id, message)
  }
  return first
}

/** Deals whose `ce_sequence` falls somewhere in the order given. */
export function dealsOutOfOrder(messages: Iterable<TopicMessage>): string[] {
  const last = new Map<string, bigint>()
  const broken = new Set<string>()
  for (const { key, headers } of messages) {
    const deal = key ?? ''
    const sequence = BigInt(headers['ce_sequence'] ?? 0)
    if (sequence <= (last.get(deal) ?? 0n)) broken.add(deal)
    last.set(deal, sequence)
  }
  return [...broken]
}
