/**
 * Events per second out of a full outbox: the relay as `serve` runs it, a bare producer, the loop that
 * one writes by hand, and pg-transactional-outbox; from a connected start to the last mark.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { relayParts } from '../dist/app.js'
import { loadConfig } from '../dist/config/load-config.js'
import { OutboxRelay } from '../dist/outbox/relay.js'
import { createMetrics } from '../dist/telemetry/metrics.js'
import { interleave } from './frame/interleave.js'
import { atLeast, rankedRows } from './frame/report.js'
import { unwrittenLog } from './frame/service-cycle.js'
import * as statistics from './frame/statistics.js'
import { checkPublished, checkStored, seedEvents } from './relay/events.js'
import { bareProducer, plainLoop } from './relay/producers.js'
import { transactionalOutbox } from './relay/transactional-outbox.js'

const bare = 'bare kafkajs producer'
const loop = 'select, send, update'
const ours = 'this relay'
const peer = 'pg-transactional-outbox'

export const relay = {
  full: { events: 10_000, peerEvents: 2_000, rounds: 5 },
  short: { events: 200, peerEvents: 50, rounds: 1 },

  async run({ servers, sizes }) {
    const { url, db, drop } = await servers.database(['service'])
    const topic = await servers.topic()
    const runs = {
      [bare]: bareProducer,
      [loop]: plainLoop,
      [ours]: serviceRelay,
      [peer]: transactionalOutbox,
    }
    const figures = await interleave(runs, sizes, async (run, name) => {
      const events = name === peer ? sizes.peerEvents : sizes.events
      await seedEvents(db, topic.name, name === ours ? 0 : events)
      const before = await topic.stored()
      const seed = () => seedEvents(db, topic.name, events)
      const ms = await run({ url, db, topic, events, seed })
      const stored = (await topic.stored()) - before
      if (name === loop || name === ours) await checkPublished(db, stored, events)
      else checkStored(stored, events)
      return (1_000 * events) / ms
    })
    await topic.drop()
    await drop()
    const to = (base) => statistics.ratio(figures[ours], figures[base])
    return {
      tables: [{ title: 'events/s', rows: rankedRows(figures, bare, statistics) }],
      goals: [
        atLeast('relay beside select, send, update', 1, to(loop)),
        atLeast('relay beside a bare producer', 0.6, to(bare)),
        atLeast('relay beside pg-transactional-outbox', 10, to(peer)),
      ],
    }
  },
}

async function serviceRelay({ url, topic, events, seed }) {
  let ms
  await drainByRelay({ url, topic, events }, async (drain) => {
    await seed()
    const start = performance.now()
    await drain()
    ms = performance.now() - start
  })
  return ms
}

/**
 * A relay composed by the same function as in `serve`, with its lock and its connections.
 *
 * @param work gets `drain`, which wakes the relay and resolves when it has marked so many events
 */
export async function drainByRelay({ url, topic, events }, work) {
  const config = loadConfig(
    { DATABASE_URL: url, KAFKA_BROKERS: topic.brokers.join(), OUTBOX_TOPIC: topic.name },
    { database: true, kafka: true, http: false },
  )
  const metrics = createMetrics({ relay: 'kafka' })
  const { options, dependencies } = relayParts(config, unwrittenLog(), metrics)
  let published = 0
  let tell
  const all = new Promise((resolve) => (tell = resolve))
  const count = (n) => {
    metrics.relay.published(n)
    published += n
    if (published >= events) tell()
  }
  const running = new OutboxRelay(options, {
    ...dependencies,
    metrics: { ...metrics.relay, published: count },
  })
  running.start()
  while (!running.health().broker.reachable) await delay(5)
  await work(() => {
    running.wake()
    return all
  })
  await running.stop()
  await dependencies.publisher.close()
}
