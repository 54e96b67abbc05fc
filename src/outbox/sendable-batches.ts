/** Cuts a batch into what can go out in one send: one topic, and not too large in sum. */

import { bytesOf } from './outbox-message.js'
import type { OutgoingMessage } from './publisher.js'

/**
 * Bytes of one send. A broker takes a megabyte by default (message.max.bytes), and brokers set lower
 * exist; half of it is 700 events of the contract's size, more than a batch holds by default.
 */
const maxBatchBytes = 512 * 1024

/** Batches per topic, each in the given order; what is too large by itself goes alone. */
export function inSendableBatches<
  T extends { readonly row: { readonly topic: string }; readonly message: OutgoingMessage },
>(items: readonly T[]): { topic: string; batch: T[] }[] {
  const batches: { topic: string; batch: T[] }[] = []
  const open = new Map<string, { batch: T[]; bytes: number }>()
  for (const item of items) {
    const { topic } = item.row
    const bytes = bytesOf(item.message)
    const current = open.get(topic)
    if (current !== undefined && current.bytes + bytes <= maxBatchBytes) {
      current.batch.push(item)
      current.bytes += bytes
    } else {
      const batch = [item]
      open.set(topic, { batch, bytes })
      batches.push({ topic, batch })
    }
  }
  return batches
}
