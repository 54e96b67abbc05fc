/** What kafkajs throws, and what that means for the events: told by the innermost cause. */

import {
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
} from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { classifyConnectError, classifySendError } from '../../../src/outbox/kafka-errors.js'

function answer(type: string): Error {
  const fault = Object.assign(new Error(`the broker said ${type}`), { type, code: 1 })
  return new KafkaJSProtocolError(fault)
}

/** As kafkajs's retrier wraps it once its retries are used up. */
function usedUp(error: Error): Error {
  return new KafkaJSNumberOfRetriesExceeded(error, { retryCount: 5, retryTime: 1_000 })
}

describe('an error of a send', () => {
  test.each(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'UNKNOWN'])(
    '%s is the message’s own',
    (type) => {
      const reason = `${type}: the broker said ${type}`
      expect(classifySendError(answer(type))).toEqual({ kind: 'rejected', reason })
      expect(classifySendError(usedUp(answer(type)))).toEqual({ kind: 'rejected', reason })
    },
  )

  test.each(['UNKNOWN_TOPIC_OR_PARTITION', 'TOPIC_AUTHORIZATION_FAILED', 'NOT_ENOUGH_REPLICAS'])(
    '%s is the topic’s',
    (type) => {
      const barred = { kind: 'unavailable', scope: 'topic' }
      expect(classifySendError(usedUp(answer(type)))).toMatchObject(barred)
    },
  )

  test.each([
    ['a refusal of the cluster', answer('CLUSTER_AUTHORIZATION_FAILED')],
    ['nobody listening', new KafkaJSConnectionError('refused', { code: 'ECONNREFUSED' })],
  ])('%s is the transport’s', (_, error) => {
    const barred = { kind: 'unavailable', scope: 'transport' }
    expect(classifySendError(usedUp(error))).toMatchObject(barred)
  })

  test.each([
    ['a closed connection', new KafkaJSConnectionError('Closed connection')],
    ['an answer that replicas may have missed', answer('NOT_ENOUGH_REPLICAS_AFTER_APPEND')],
    ['a broken sequence', answer('OUT_OF_ORDER_SEQUENCE_NUMBER')],
    ['a duplicate sequence', answer('DUPLICATE_SEQUENCE_NUMBER')],
    ['a broker’s timeout', answer('REQUEST_TIMED_OUT')],
    ['an answer that is new to kafkajs', answer('KAFKAJS_UNKNOWN_ERROR_CODE')],
    ['anything else', new Error('who knows')],
  ])('%s leaves the outcome unknown', (_, error) => {
    expect(classifySendError(error)).toMatchObject({ kind: 'unknown' })
    expect(classifySendError(usedUp(error))).toMatchObject({ kind: 'unknown' })
  })

  test('a message that kafkajs can’t encode is the message’s own', () => {
    const fault = new TypeError('not a string')
    const wrapped = Object.assign(new KafkaJSNonRetriableError(fault), { cause: fault })
    expect(classifySendError(wrapped)).toMatchObject({ kind: 'rejected' })
  })

  test('an error that is its own cause, or is none, ends the search', () => {
    const loop = new Error('round and round')
    loop.cause = loop
    expect(classifySendError(loop)).toMatchObject({ kind: 'unknown' })
    expect(classifySendError('text')).toEqual({ kind: 'unknown', reason: 'text' })
  })
})

describe('an error before a send', () => {
  test('is the transport’s, for nothing has left, whatever went wrong', () => {
    expect(classifyConnectError(usedUp(answer('REQUEST_TIMED_OUT')))).toEqual({
      kind: 'unavailable',
      scope: 'transport',
      reason: 'REQUEST_TIMED_OUT: the broker said REQUEST_TIMED_OUT',
    })
  })

  test('is the topic’s where the producer was told to look at it', () => {
    const barred = { kind: 'unavailable', scope: 'topic' }
    expect(classifyConnectError(answer('UNKNOWN_TOPIC_OR_PARTITION'))).toMatchObject(barred)
  })
})
