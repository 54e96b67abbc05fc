/**
 * One membership in the consumer group, from its first connect to its end; kafkajs's own restarts
 * are switched off, and whoever calls begins anew with a client that has forgotten everything.
 *
 * At least once: a message's offset is resolved after its transaction, and only resolved offsets are
 * committed, at the end of each fetch and otherwise once a second. What is in between when the
 * process dies comes again and finds its deal known.
 */

import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs'
import { classifyConnectError } from '../outbox/kafka-errors.js'
import { stopIdleTimers } from '../outbox/kafka-idle-timer.js'
import { createKafkaSockets } from '../outbox/kafka-sockets.js'
import { within } from '../timers.js'
import type { IntakeMessage } from './intake-message.js'
import { createConsumer, heartbeatMs, type ConsumerOptions } from './kafka-consumer.js'
import { withHeartbeats } from './kafka-heartbeats.js'

export interface KafkaSessionOptions extends ConsumerOptions {
  readonly topic: string
  /** Partitions worked on at once; the messages of one are always worked on in turn. */
  readonly lanes: number
  /** True when the message is done and may be committed, false when it must come again. */
  readonly handle: (message: IntakeMessage, stopping: AbortSignal) => Promise<boolean>
  readonly onJoined: () => void
  /** A broker has answered. */
  readonly onSign: () => void
  /** A broker is being asked. */
  readonly onTry: () => void
}

/**
 * Twice the longest legal silence, which is a join that waits for another member's message. Beyond
 * it kafkajs has lost its thread (as it does after some rebalances) and only a new client helps.
 */
const silenceMs = 120_000
/** Offsets that are still to be committed, and the leave, after the last message has ended. */
const goodbyeMs = 2_000

/** Resolves with why the session ended, or undefined where it was stopped; never rejects. */
export async function runKafkaSession(
  options: KafkaSessionOptions,
  stopping: AbortSignal,
): Promise<string | undefined> {
  stopIdleTimers()
  const sockets = createKafkaSockets({ caFile: options.kafka.sslCaFile })
  const consumer = createConsumer(options, sockets.socketFactory)
  const over = new AbortController()
  const working = new Set<Promise<void>>()
  const eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    const work = workOff(payload, options, over.signal)
    const settled = work.then(noop, noop)
    working.add(settled)
    void settled.then(() => working.delete(settled))
    await work
  }
  try {
    return await Promise.race([
      untilLost(consumer, options, over.signal),
      begin(consumer, options, eachBatch),
      new Promise<undefined>((resolve) => {
        const stopped = (): void => resolve(undefined)
        if (stopping.aborted) stopped()
        stopping.addEventListener('abort', stopped, { once: true, signal: over.signal })
      }),
    ])
  } catch (error) {
    return classifyConnectError(error).reason
  } finally {
    over.abort()
    const goodbye = consumer.disconnect().catch(noop)
    // The database's own time limits bound the messages under way; the brokers have none.
    await Promise.all(working)
    await within(goodbye, goodbyeMs)
    sockets.cut()
  }
}

/** Rejects where it can't begin; resolves never, for then the session's end is told elsewhere. */
async function begin(
  consumer: Consumer,
  { topic, lanes }: KafkaSessionOptions,
  eachBatch: (payload: EachBatchPayload) => Promise<void>,
): Promise<never> {
  await consumer.connect()
  // A new group begins with what is there, for those deals lack a chat as well.
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachBatch,
    eachBatchAutoResolve: false,
    autoCommitInterval: 1_000,
    partitionsConsumedConcurrently: lanes,
  })
  return new Promise<never>(noop)
}

/** Resolves with the reason when kafkajs has given up, or has not been heard of for too long. */
function untilLost(
  consumer: Consumer,
  { onJoined, onSign, onTry }: KafkaSessionOptions,
  over: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    let watchdog: NodeJS.Timeout | undefined
    const watch = (): void => {
      clearTimeout(watchdog)
      if (over.aborted) return
      watchdog = setTimeout(() => resolve(`no sign of life for ${silenceMs} ms`), silenceMs)
    }
    const sign = (): void => {
      watch()
      onSign()
    }
    watch()
    over.addEventListener('abort', () => clearTimeout(watchdog), { once: true })
    consumer.on(consumer.events.CRASH, ({ payload }) =>
      resolve(classifyConnectError(payload.error).reason),
    )
    consumer.on(consumer.events.GROUP_JOIN, () => {
      sign()
      onJoined()
    })
    consumer.on(consumer.events.FETCH, sign)
    consumer.on(consumer.events.HEARTBEAT, sign)
    consumer.on(consumer.events.FETCH_START, onTry)
  })
}

async function workOff(
  payload: EachBatchPayload,
  { handle }: KafkaSessionOptions,
  over: AbortSignal,
): Promise<void> {
  const { batch } = payload
  for (const message of batch.messages) {
    if (over.aborted || !payload.isRunning()) return
    const { done, lost } = await withHeartbeats(
      (stopping) => handle(toIntakeMessage(batch, message), stopping),
      () => payload.heartbeat(),
      heartbeatMs,
      over,
    )
    if (done) payload.resolveOffset(message.offset)
    if (lost !== undefined) throw lost
    if (!done) return
    await payload.commitOffsetsIfNecessary()
    await payload.heartbeat()
  }
}

function toIntakeMessage(
  { topic, partition }: { readonly topic: string; readonly partition: number },
  { offset, key, value, headers }: KafkaMessage,
): IntakeMessage {
  const header = headers?.['correlation-id']
  const correlationId = Array.isArray(header) ? undefined : header?.toString()
  return { topic, partition, offset, key, value, correlationId }
}

function noop(): void {
  // Nothing is left to do.
}
