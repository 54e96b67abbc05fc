/** The way to Kafka, by a clock of our own: when it is barred, for how long, and what is said. */

import { beforeEach, describe, expect, test } from 'vitest'
import type { PublishOutcome } from '../../../src/outbox/publisher.js'
import { createTransportState, type TransportState } from '../../../src/outbox/transport-state.js'

const away: PublishOutcome = { kind: 'unavailable', scope: 'transport', reason: 'away' }
const missing: PublishOutcome = { kind: 'unavailable', scope: 'topic', reason: 'missing' }
const published: PublishOutcome = { kind: 'published' }

let clock: number
let said: string[]
let state: TransportState

const note = (fields: object, message: string): void => {
  const { reason, topic } = fields as { reason?: string; topic?: string }
  said.push([message, topic, reason].filter((part) => part !== undefined).join(' | '))
}

beforeEach(() => {
  clock = 0
  said = []
  state = createTransportState({
    now: () => clock,
    random: () => 0,
    log: { info: note, warn: note, error: note },
  })
})

const send = (outcome: PublishOutcome, topic = 't'): Promise<PublishOutcome | undefined> =>
  state.send(topic, () => Promise.resolve(outcome))

describe('the transport', () => {
  test('is barred after one failure, longer each time, never more than ten seconds', async () => {
    const pauses: number[] = []
    for (let n = 0; n < 6; n += 1) {
      expect(await send(away)).toEqual(away)
      pauses.push(state.retryInMs())
      expect(await send(published)).toBeUndefined()
      clock += state.retryInMs()
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    expect(said).toEqual(['outbox waits for kafka | away'])
  })

  test('flows again after one success, and starts over', async () => {
    await send(away)
    clock += 1_000
    await send(away)
    clock += 2_000
    expect(await send(published)).toEqual(published)
    expect(state.failureFor('t')).toBeUndefined()
    expect(said).toEqual(['outbox waits for kafka | away', 'outbox flows again'])
    await send(away)
    expect(state.retryInMs()).toBe(1_000)
  })

  test('an unknown outcome bars it too; one given up says nothing', async () => {
    await send({ kind: 'abandoned' })
    expect(state.retryInMs()).toBe(0)
    expect(state.lastAnswerAt).toBeUndefined()
    await send({ kind: 'unknown', reason: 'timeout' })
    expect(state.failureFor('any')).toBe('timeout')
    clock += 1_000
    await send({ kind: 'abandoned' })
    expect(await send(published)).toEqual(published)
  })

  test('a message’s own failure is an answer', async () => {
    clock = 5
    await send({ kind: 'rejected', reason: 'too large' })
    expect(state.retryInMs()).toBe(0)
    expect(state.lastAnswerAt).toBe(5)
  })
})

describe('a topic', () => {
  test('is barred by itself, the others and the transport are not', async () => {
    expect(await send(missing, 'gone')).toEqual(missing)
    expect(state.closedTopics()).toEqual(['gone'])
    expect(await send(published, 'gone')).toBeUndefined()
    expect(await send(published, 't')).toEqual(published)
    expect(state.failureFor('gone')).toBe('missing')
    expect(state.failureFor('t')).toBeUndefined()
    clock += 1_000
    expect(state.closedTopics()).toEqual([])
    expect(await send(published, 'gone')).toEqual(published)
    expect(said).toEqual(['outbox waits for kafka | gone | missing', 'outbox flows again | gone'])
  })
})
