/** The events' way from the worker to crm's reader, as far as it is there yet. */

import type { CrmReader } from './crm-reader.js'
import type { Climb, RelayPlan } from './kafka-ladder.js'
import type { TopicConsumer } from './kafka-topic.js'

export interface EventWay {
  /** How the worker is to publish, as far as is known now. */
  readonly plan: RelayPlan
  /** For people. */
  readonly what: string
  /** The reader reads. */
  readonly isOpen: boolean
  /** @throws what kept it from being opened, or closed it */
  assertSound(): void
  /** Ends the reading; the broker is its starter's to end. */
  close(): Promise<void>
}

export function createEventWay(climb: Climb, reader: CrmReader): EventWay {
  let { plan } = climb
  let what = 'Kafka, still starting'
  let isOpen = false
  let consumer: TopicConsumer | undefined
  let failure: { readonly error: unknown } | undefined
  const opening = (async () => {
    const arrival = await climb.arrival
    consumer = await arrival.consume(reader)
    ;({ plan, what } = arrival)
    isOpen = true
  })()
  opening.catch((error: unknown) => (failure = { error }))
  return {
    get plan() {
      return plan
    },
    get what() {
      return what
    },
    get isOpen() {
      return isOpen
    },
    assertSound() {
      if (failure !== undefined) throw failure.error
      if (consumer?.failure !== undefined) throw consumer.failure
    },
    async close() {
      await opening.catch(() => undefined)
      await consumer?.stop()
    },
  }
}
