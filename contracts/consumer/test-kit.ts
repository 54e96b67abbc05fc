/**
 * What every consumer of the topic must stand, as data: run it against your own code.
 *
 *   for (const scenario of scenarios) {
 *     test(scenario.name, () => runScenario(scenario, myConsumer()))
 *   }
 */

import type { ChatStatus, IncomingMessage } from './read-message.js'

/** Your consumer, with an empty store. */
export interface ConsumerUnderTest {
  handle(message: IncomingMessage): Promise<unknown>
  /** Undefined where it has heard nothing of the deal. */
  statusOf(dealId: string): Promise<{ status: string; chatId: string | null } | undefined>
}

export interface Scenario {
  readonly name: string
  readonly messages: readonly IncomingMessage[]
  readonly expected: { readonly status: ChatStatus; readonly chatId: string | null } | undefined
}

export const dealId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
export const chatId = '6fa459ea-ee8a-4ca4-894e-db77e160355e'

interface Variation {
  readonly value?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string | null>>
}

function event(
  sequence: string,
  status: string,
  { value, headers }: Variation = {},
): IncomingMessage {
  return {
    key: dealId,
    value: JSON.stringify({
      DealId: dealId,
      ChatId: status === 'Ready' ? chatId : null,
      Status: status,
      OccurredAt: '2026-01-02T03:04:05.678Z',
      ...value,
    }),
    headers: { ce_id: `event-${sequence}`, ce_sequence: sequence, ...headers },
  }
}

const failed = event('41', 'Failed')
const provisioning = event('42', 'Provisioning')
const ready = event('43', 'Ready')
const isReady = { status: 'Ready', chatId } as const
const tombstone: IncomingMessage = { key: dealId, value: null, headers: {} }

export const scenarios: readonly Scenario[] = [
  {
    name: 'keeps the first event',
    messages: [failed],
    expected: { status: 'Failed', chatId: null },
  },
  { name: 'follows events in order', messages: [failed, provisioning, ready], expected: isReady },
  { name: 'takes an event twice', messages: [ready, ready], expected: isReady },
  {
    name: 'is not taken back by a redelivery of what it had',
    messages: [failed, provisioning, ready, failed, provisioning],
    expected: isReady,
  },
  { name: 'drops an older event that comes late', messages: [ready, failed], expected: isReady },
  {
    name: 'compares sequences as numbers, not as text',
    messages: [event('9', 'Failed'), event('10', 'Ready')],
    expected: isReady,
  },
  {
    name: 'compares sequences beyond 2^53',
    messages: [event('9007199254740993', 'Ready'), event('9007199254740992', 'Failed')],
    expected: isReady,
  },
  {
    name: 'orders by sequence, whatever the clock says',
    messages: [failed, event('43', 'Ready', { value: { OccurredAt: '2025-12-31T00:00:00.000Z' } })],
    expected: isReady,
  },
  { name: 'stands a tombstone', messages: [ready, tombstone], expected: isReady },
  { name: 'stands a tombstone for a deal unheard of', messages: [tombstone], expected: undefined },
  {
    name: 'passes over fields and headers that came later',
    messages: [event('43', 'Ready', { value: { Reason: 'x' }, headers: { later: 'x' } })],
    expected: isReady,
  },
  {
    name: 'passes over a status that came later',
    messages: [ready, event('44', 'Archived')],
    expected: isReady,
  },
  {
    name: 'takes a null header as absent',
    messages: [event('43', 'Ready', { headers: { traceparent: null, 'correlation-id': null } })],
    expected: isReady,
  },
  {
    name: 'goes on after a message that it can’t read',
    messages: [{ key: dealId, value: 'no json', headers: { ce_sequence: '44' } }, ready],
    expected: isReady,
  },
]

/** @throws Error that names scenario, expectation and what came of it */
export async function runScenario(scenario: Scenario, consumer: ConsumerUnderTest): Promise<void> {
  for (const message of scenario.messages) await consumer.handle(message)
  const actual = await consumer.statusOf(dealId)
  const { expected } = scenario
  if (actual?.status === expected?.status && actual?.chatId === expected?.chatId) return
  throw new Error(
    `${scenario.name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`,
  )
}
