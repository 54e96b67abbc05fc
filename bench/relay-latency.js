/**
 * From an event's commit to Kafka's acknowledgement, for what this process wrote, beside a bare kafkajs
 * send of the same message after the same commit.
 */

import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import { relayParts } from '../dist/app.js'
import { loadConfig } from '../dist/config/load-config.js'
import { appendDealChatStatusChanged } from '../dist/outbox/append-event.js'
import { selectDueEvents } from '../dist/outbox/due-events.js'
import { toOutgoingMessage } from '../dist/outbox/outbox-message.js'
import { OutboxRelay } from '../dist/outbox/relay.js'
import { createMetrics } from '../dist/telemetry/metrics.js'
import { interleave } from './frame/interleave.js'
import { below } from './frame/report.js'
import { unwrittenLog } from './frame/service-cycle.js'
import { percentile, ratio } from './frame/statistics.js'
import { connectProducer, forKafkajs } from './relay/producers.js'

const bare = 'bare kafkajs send'
const ours = 'this relay'

export const relayLatency = {
  /** A p99 of a thousand rests on ten values. */
  full: { events: 1_000, rounds: 5 },
  short: { events: 20, rounds: 1 },

  async run({ servers, sizes }) {
    const { url, db, drop } = await servers.database(['service'])
    const topic = await servers.topic()
    const runs = { [bare]: bareSends, [ours]: relayed }
    const before = await topic.stored()
    const times = await interleave(runs, sizes, (run) => run({ url, db, topic, ...sizes }))
    const stored = (await topic.stored()) - before
    const sent = 2 * (sizes.rounds + 1) * sizes.events
    if (stored !== sent) throw new Error(`Kafka holds ${stored} messages, ${sent} were sent`)
    await topic.drop()
    await drop()
    const at = (share) => (name) => times[name].map((round) => percentile(round, share))
    const rows = Object.keys(times).flatMap((who) =>
      [0.5, 0.99].map((share) => ({
        who,
        share: `p${100 * share}`,
        'median of rounds': Number(percentile(at(share)(who), 0.5).toFixed(2)),
        'each round': at(share)(who)
          .map((ms) => ms.toFixed(1))
          .join(' '),
      })),
    )
    return {
      tables: [{ title: 'milliseconds from commit to acknowledgement', rows }],
      goals: [below('p99 beside a bare send', 3, ratio(at(0.99)(ours), at(0.99)(bare)))],
    }
  },
}

/** What Kafka and kafkajs alone cost, of a message in memory, between commits as the relay's are. */
async function bareSends({ db, topic, events }) {
  const producer = await connectProducer(topic.brokers)
  await commitEvent(db, topic)
  const [row] = await selectDueEvents(db, { limit: 1, exceptTopics: [] })
  const message = forKafkajs(toOutgoingMessage(row))
  const times = []
  for (let n = 0; n < events; n += 1) {
    await commitEvent(db, topic)
    const start = performance.now()
    await producer.send({
      topic: topic.name,
      acks: -1,
      messages: [{ ...message, key: randomUUID() }],
    })
    times.push(performance.now() - start)
  }
  await producer.disconnect()
  await sql`truncate messenger.outbox_events`.execute(db)
  return times
}

function commitEvent(db, topic) {
  return db.transaction().execute((trx) =>
    appendDealChatStatusChanged(trx, {
      topic: topic.name,
      dealId: randomUUID(),
      chatId: null,
      status: 'Failed',
      correlationId: null,
      traceparent: null,
    }),
  )
}

/** Each event committed, then the relay woken, as the job does; the next after its acknowledgement. */
async function relayed({ url, db, topic, events }) {
  const config = loadConfig(
    { DATABASE_URL: url, KAFKA_BROKERS: topic.brokers.join(), OUTBOX_TOPIC: topic.name },
    { database: true, kafka: true, http: false },
  )
  const metrics = createMetrics({ relay: 'kafka' })
  const { options, dependencies } = relayParts(config, unwrittenLog(), metrics)
  const { publisher } = dependencies
  let acknowledged
  const watched = {
    publish: async (to, messages, signal) => {
      const outcome = await publisher.publish(to, messages, signal)
      if (outcome.kind === 'published' && messages.length > 0) acknowledged?.()
      return outcome
    },
  }
  const relay = new OutboxRelay(options, { ...dependencies, publisher: watched })
  relay.start()
  const times = []
  for (let n = 0; n < events; n += 1) {
    const acknowledgement = new Promise((resolve) => (acknowledged = resolve))
    await commitEvent(db, topic)
    const committed = performance.now()
    relay.wake()
    await acknowledgement
    times.push(performance.now() - committed)
  }
  await relay.stop()
  await publisher.close()
  return times
}
