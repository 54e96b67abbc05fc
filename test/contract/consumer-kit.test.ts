/** The reference consumer stands its own test kit, also where the topic is real. */

import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { handleMessage } from '../../contracts/consumer/handle-message.js'
import { startConsumer } from '../../contracts/consumer/kafka-consumer.js'
import type { IncomingMessage } from '../../contracts/consumer/read-message.js'
import { MemoryStatusStore } from '../../contracts/consumer/status-store.js'
import {
  chatId,
  dealId,
  runScenario,
  scenarios,
  type ConsumerUnderTest,
} from '../../contracts/consumer/test-kit.js'
import { createTopic, describeWithKafka, kafkaClient } from '../support/kafka.js'
import { waitFor } from '../support/wait-for.js'

function referenceConsumer(aside: string[] = []): ConsumerUnderTest {
  const store = new MemoryStatusStore()
  const putAside = (_message: IncomingMessage, reason: string): Promise<void> => {
    aside.push(reason)
    return Promise.resolve()
  }
  return {
    handle: (message) => handleMessage(message, store, putAside),
    statusOf: (deal) => Promise.resolve(store.get(deal)),
  }
}

describe('the reference consumer', () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    async (_, scenario) => runScenario(scenario, referenceConsumer()),
  )

  const good = {
    DealId: dealId,
    ChatId: null,
    Status: 'Failed',
    OccurredAt: '2026-01-02T03:04:05Z',
  }

  test.each([
    ['no ce_sequence', good, {}],
    ['the value is no JSON object', ['x'], { ce_sequence: '1' }],
    ['DealId is no UUID', { ...good, DealId: '7' }, { ce_sequence: '1' }],
    ['ChatId is no UUID', { ...good, ChatId: 7 }, { ce_sequence: '1' }],
    ['OccurredAt is no time', { ...good, OccurredAt: 'soon' }, { ce_sequence: '1' }],
    ['Status is no text', { ...good, Status: 1 }, { ce_sequence: '1' }],
  ])('puts aside: %s', async (reason, value, headers) => {
    const aside: string[] = []
    await referenceConsumer(aside).handle({ key: dealId, value: JSON.stringify(value), headers })
    expect(aside).toEqual([reason])
  })
})

describe('the test kit', () => {
  test('finds a consumer that takes whatever comes last', async () => {
    let last: { status: string; chatId: string | null } | undefined
    const careless: ConsumerUnderTest = {
      handle: ({ value }) => {
        const { Status, ChatId } = JSON.parse(String(value)) as { Status: string; ChatId: string }
        last = { status: Status, chatId: ChatId }
        return Promise.resolve()
      },
      statusOf: () => Promise.resolve(last),
    }
    const late = scenarios.find(({ name }) => name.includes('comes late'))
    if (late === undefined) throw new Error('the scenario has another name now')
    await expect(runScenario(late, careless)).rejects.toThrow('drops an older event')
  })
})

describeWithKafka('the reference consumer, on Kafka', () => {
  test('keeps the last status of a deal', async () => {
    const topic = await createTopic()
    const kafka = await kafkaClient()
    const producer = kafka.producer()
    await producer.connect()
    const scenario = scenarios.find(({ name }) => name.includes('redelivery'))
    const messages = (scenario?.messages ?? []).map(({ key, value, headers }) => ({
      key,
      value,
      headers: headers as Record<string, string>,
    }))
    await producer.send({ topic, messages })
    await producer.disconnect()
    const store = new MemoryStatusStore()
    const groupId = randomBytes(6).toString('hex')
    const putAside = (): Promise<void> => Promise.resolve()
    const consumer = await startConsumer({ kafka, groupId, topic, store, putAside })
    await waitFor('the last status', () => store.get(dealId)?.status === 'Ready')
    await consumer.disconnect()
    expect(store.get(dealId)).toMatchObject({ status: 'Ready', chatId })
  })
})
