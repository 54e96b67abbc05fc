/**
 * The publisher for Kafka: one producer at a time, connected when first needed, given a deadline,
 * and replaced after every send that did not succeed (kafka-producer.ts says why).
 */

import { createKafkaProducer, type KafkaProducer } from './kafka-producer.js'
import type { KafkaProducerOptions } from './kafka-producer.js'
import type { ClosablePublisher, OutgoingMessage, PublishOutcome } from './publisher.js'

/** A living broker takes milliseconds to see a connection off; a dead one is not waited for. */
const goodbyeMs = 1_000

export class KafkaPublisher implements ClosablePublisher {
  readonly #options: KafkaProducerOptions
  #producer: KafkaProducer | undefined
  #closed = false

  constructor(options: KafkaProducerOptions) {
    this.#options = options
  }

  async publish(
    topic: string,
    messages: readonly OutgoingMessage[],
    signal: AbortSignal,
  ): Promise<PublishOutcome> {
    if (this.#closed || signal.aborted) return { kind: 'abandoned' }
    const producer = this.#usableProducer(topic)
    const { sendTimeoutMs } = this.#options
    const outcome = await within(producer.send(topic, messages), sendTimeoutMs, signal, () => {
      const reason = `no answer within ${sendTimeoutMs} ms`
      return producer.state === 'connected' && messages.length > 0
        ? { kind: 'unknown', reason }
        : { kind: 'unavailable', scope: 'transport', reason }
    })
    if (outcome.kind !== 'published') this.#discard(producer)
    return outcome
  }

  async close(): Promise<void> {
    this.#closed = true
    const producer = this.#producer
    if (producer === undefined) return
    if (producer.state === 'connected') await goodbye(producer)
    this.#discard(producer)
  }

  /**
   * The present producer, unless all its connections have gone meanwhile: brokers close idle ones,
   * and a fresh connect says more about the cluster than kafkajs's memory of it.
   */
  #usableProducer(topic: string): KafkaProducer {
    if (this.#producer?.state === 'idle') this.#discard(this.#producer)
    return (this.#producer ??= createKafkaProducer(this.#options, topic))
  }

  #discard(producer: KafkaProducer): void {
    producer.discard()
    if (this.#producer === producer) this.#producer = undefined
  }
}

async function within(
  sending: Promise<PublishOutcome>,
  ms: number,
  signal: AbortSignal,
  tooLate: () => PublishOutcome,
): Promise<PublishOutcome> {
  const { promise: givenUp, resolve } = deferred<PublishOutcome>()
  const timer = setTimeout(() => resolve(tooLate()), ms)
  const onAbort = (): void => resolve({ kind: 'abandoned' })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([sending, givenUp])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

async function goodbye(producer: KafkaProducer): Promise<void> {
  const { promise, resolve } = deferred<undefined>()
  const timer = setTimeout(resolve, goodbyeMs, undefined)
  try {
    await Promise.race([producer.disconnect(), promise])
  } catch {
    // The sockets are cut next, which is all that matters here.
  } finally {
    clearTimeout(timer)
  }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve }
}
