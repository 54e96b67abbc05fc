/**
 * The reference consumer on kafkajs. Each message is handled before its offset is committed: at
 * least once, which the store's rule makes harmless.
 */

import type { Consumer, Kafka } from 'kafkajs'
import { handleMessage } from './handle-message.js'
import type { IncomingMessage } from './read-message.js'
import type { StatusStore } from './status-store.js'

export interface ConsumerOptions {
  readonly kafka: Kafka
  readonly groupId: string
  readonly topic: string
  readonly store: StatusStore
  readonly putAside: (message: IncomingMessage, reason: string) => Promise<void>
}

/** Starts consuming; end it by the returned consumer's `disconnect`. */
export async function startConsumer(options: ConsumerOptions): Promise<Consumer> {
  const consumer = options.kafka.consumer({ groupId: options.groupId })
  await consumer.connect()
  // The topic is compacted: from the beginning means the last status of every deal.
  await consumer.subscribe({ topic: options.topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      const { key, value, headers } = message
      await handleMessage(
        { key, value, headers: singleValues(headers) },
        options.store,
        options.putAside,
      )
    },
  })
  return consumer
}

/** Kafka allows a header twice; this contract has each once, so the first one is taken. */
function singleValues(
  headers: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>> = {},
): Record<string, Buffer | string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}
