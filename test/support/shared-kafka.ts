/**
 * One Kafka broker for the whole run, started when the first test file asks for it.
 *
 * Test files run in processes of their own, one after another, so none of them can own the broker:
 * the global setup does, and they ask it over a local socket.
 */

import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { startTestKafka, whyNoKafka } from './servers.js'

/** Provided by the global setup. */
export type KafkaOffer =
  | { readonly available: true; readonly port: number }
  | { readonly available: false; readonly reason: string }

export interface KafkaOnDemand {
  readonly offer: KafkaOffer
  stop(): Promise<void>
}

/** What is answered on the socket, as one line of JSON. */
export type KafkaAnswer = { readonly brokers: string[] } | { readonly error: string }

export async function offerKafka(): Promise<KafkaOnDemand> {
  const reason = await whyNoKafka()
  if (reason !== undefined) {
    return { offer: { available: false, reason }, stop: () => Promise.resolve() }
  }
  let started: ReturnType<typeof startTestKafka> | undefined
  const answer = async (): Promise<KafkaAnswer> => {
    started ??= startTestKafka()
    try {
      return { brokers: (await started).brokers }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }
  const server = createServer((socket) => {
    // A test file that ends while it waits has no more use for the answer.
    socket.on('error', () => undefined)
    void answer().then((given) => socket.end(`${JSON.stringify(given)}\n`))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    offer: { available: true, port: (server.address() as AddressInfo).port },
    stop: async () => {
      server.close()
      // One that did not start has said so to those who asked.
      const kafka = await started?.catch(() => undefined)
      await kafka?.stop()
    },
  }
}
