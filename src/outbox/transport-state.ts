/**
 * What is known of the way to Kafka: one breaker for the transport, one for each topic in trouble.
 * A failure of the transport spends no event's attempts and is told once, when it begins and when
 * it ends, not at each probe.
 */

import type { Random } from '../chokaq/kernel/backoff.js'
import { logOutbox, type OutboxLog } from './outbox-log.js'
import { createProbingBreaker, type ProbingBreaker } from './probing-breaker.js'
import type { PublishOutcome } from './publisher.js'

export interface TransportState {
  /** Why nothing, or nothing to this topic, can go out; undefined while all is well. */
  failureFor(topic: string): string | undefined
  /** Why some events can't go out: of the transport, or of any topic. */
  readonly failure: string | undefined
  /** Milliseconds until something may be tried again; 0 when it may be now. */
  retryInMs(): number
  /** Topics that nothing is read for just now. */
  closedTopics(): string[]
  /** When an answer of the transport was last seen, on the given clock; undefined before the first. */
  readonly lastAnswerAt: number | undefined
  /** Runs the send unless the way is barred (then undefined), and learns from its outcome. */
  send(topic: string, publish: () => Promise<PublishOutcome>): Promise<PublishOutcome | undefined>
}

export function createTransportState(options: {
  readonly now: () => number
  readonly random: Random
  readonly log: OutboxLog
}): TransportState {
  const { now, random, log } = options
  const transport = createProbingBreaker(now, random)
  const topics = new Map<string, ProbingBreaker>()
  let lastAnswerAt: number | undefined

  const breakerOf = (topic: string): ProbingBreaker => {
    const known = topics.get(topic)
    if (known !== undefined) return known
    const created = createProbingBreaker(now, random)
    topics.set(topic, created)
    return created
  }

  return {
    failureFor: (topic) => transport.failure ?? topics.get(topic)?.failure,
    get failure() {
      const [ofTopic] = [...topics.values()].flatMap(({ failure }) => failure ?? [])
      return transport.failure ?? ofTopic
    },
    retryInMs: () => transport.retryInMs,
    closedTopics: () => [...topics].filter(([, breaker]) => breaker.retryInMs > 0).map(nameOf),
    get lastAnswerAt() {
      return lastAnswerAt
    },
    async send(topic, publish) {
      const way = transport.tryAcquire()
      if (way === undefined) return undefined
      const ofTopic = breakerOf(topic)
      const gate = ofTopic.tryAcquire()
      if (gate === undefined) {
        way.released()
        return undefined
      }
      const outcome = await publish()
      if (outcome.kind === 'abandoned') {
        gate.released()
        way.released()
        return outcome
      }
      const fault = transportFault(outcome)
      if (fault !== undefined) {
        gate.released()
        if (transport.fail(way, fault)) logOutbox(log, 'outbox waits for kafka', { reason: fault })
        return outcome
      }
      lastAnswerAt = now()
      const lastedMs = transport.succeed(way)
      if (lastedMs !== undefined) logOutbox(log, 'outbox flows again', { afterMs: lastedMs })
      if (outcome.kind === 'unavailable') {
        if (ofTopic.fail(gate, outcome.reason)) {
          logOutbox(log, 'outbox waits for kafka', { topic, reason: outcome.reason })
        }
      } else {
        const topicLastedMs = ofTopic.succeed(gate)
        topics.delete(topic)
        if (topicLastedMs !== undefined) {
          logOutbox(log, 'outbox flows again', { topic, afterMs: topicLastedMs })
        }
      }
      return outcome
    },
  }
}

/** The reason, where nothing at all can go out for now. */
function transportFault(outcome: PublishOutcome): string | undefined {
  if (outcome.kind === 'unknown') return outcome.reason
  return outcome.kind === 'unavailable' && outcome.scope === 'transport'
    ? outcome.reason
    : undefined
}

function nameOf([topic]: [string, ProbingBreaker]): string {
  return topic
}
