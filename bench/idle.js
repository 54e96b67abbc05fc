/**
 * What `serve` takes with everything on: while there is nothing to do (transactions a minute, CPU, memory;
 * an idle process sends each statement as a transaction of its own), and its memory while all of it works.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { seedDue } from './frame/deals.js'
import { below } from './frame/report.js'
import { startServe } from './frame/serve-process.js'
import { connectProducer } from './relay/producers.js'

const token = 'bench-admin-token'
const askEveryMs = 1_000

export const idle = {
  /** First connections and first looks; not counted, as the seconds after are. */
  full: { settleSeconds: 5, seconds: 60, rows: 10_000, messages: 1_000 },
  short: { settleSeconds: 1, seconds: 1, rows: 100, messages: 10 },

  async run({ servers, sizes }) {
    const { url, db, adminQuery, drop } = await servers.database(['service', 'reference'])
    const [topic, dealCreated] = [await servers.topic(), await servers.topic()]
    const environment = {
      DATABASE_URL: url,
      KAFKA_BROKERS: topic.brokers.join(),
      OUTBOX_TOPIC: topic.name,
      INTAKE_ENABLED: 'true',
      INTAKE_TOPIC: dealCreated.name,
      DECK_ADMIN_TOKEN: token,
    }
    const quiet = await restingUsage(environment, adminQuery, sizes)
    const busy = await workingUsage(environment, { db, topic, dealCreated, sizes })
    for (const { drop: dropTopic } of [topic, dealCreated]) await dropTopic()
    await drop()
    const title = `serve with nothing to do, ${sizes.seconds} s`
    return {
      tables: [
        { title, rows: [quiet] },
        { title: 'serve with everything at work', rows: [busy] },
      ],
      goals: [
        below('transactions a minute, idle', 200, quiet['transactions/min']),
        below('% of a processor, idle', 3, quiet['CPU %']),
        below('MB resident at the most, at work', 200, busy['peak RSS MB']),
      ],
    }
  },
}

async function restingUsage(environment, adminQuery, { settleSeconds, seconds }) {
  const serve = await startServe(environment)
  await delay(settleSeconds * 1_000)
  const before = { ...(await serve.usage()), ...(await transactions(adminQuery)) }
  await delay(seconds * 1_000)
  const after = { ...(await serve.usage()), ...(await transactions(adminQuery)) }
  await serve.stop()
  return {
    'transactions/min': Math.round((60 * (after.count - before.count)) / seconds),
    'CPU %': Number(((100 * (after.cpuSeconds - before.cpuSeconds)) / seconds).toFixed(2)),
    'RSS MB': Math.round(after.rssMb),
  }
}

/** Asked in another database, whose own ones don't count. */
async function transactions(adminQuery) {
  const [row] = await adminQuery(
    'select (xact_commit + xact_rollback)::int as count from pg_stat_database where datname = $1',
  )
  return row
}

/** Due rows, messages for the intake, a job over all of them, and who looks on, all at once. */
async function workingUsage(environment, { db, topic, dealCreated, sizes }) {
  await seedDue(db, sizes.rows)
  const serve = await startServe({ ...environment, CHAT_PROVISION_RETRY_POLLING_INTERVAL: '1s' })
  const { address } = serve
  const watch = onlookers(address)
  await sendDeals(dealCreated, sizes.messages)
  const all = sizes.rows + sizes.messages
  await until('all chats and their events', () => isDone(db, all))
  await ask(address, 'POST', '/api/v1/provisions/reemit', {
    filter: { status: 'Ready' },
    reason: 'bench',
    by: 'bench',
  })
  await until('all events again', () => isDone(db, 2 * all))
  const usage = await serve.usage()
  await watch.stop()
  await serve.stop()
  const stored = await topic.stored()
  if (stored < 2 * all) throw new Error(`Kafka holds ${stored} events of ${2 * all}`)
  return { rows: all, events: 2 * all, 'peak RSS MB': Math.round(usage.peakRssMb) }
}

async function isDone(db, events) {
  const { rows } = await sql`
    select (select count(*) from messenger.outbox_events where published_at is not null)::int as n
  `.execute(db)
  return rows[0].n >= events
}

async function sendDeals(topic, count) {
  const producer = await connectProducer(topic.brokers)
  const messages = Array.from({ length: count }, (_, n) => {
    const DealId = randomUUID()
    const Members = ['Owner', 'Member'].map((Role) => ({ UserId: randomUUID(), Role }))
    return { key: DealId, value: JSON.stringify({ DealId, Title: `Deal ${n}`, Members }) }
  })
  await producer.send({ topic: topic.name, messages })
  await producer.disconnect()
}

/** A scraper and a person with The Deck open, more eager than any. */
function onlookers(address) {
  let watching = true
  const looking = (async () => {
    while (watching) {
      await ask(address, 'GET', '/metrics')
      await ask(address, 'GET', '/api/v1/summary')
      await ask(address, 'GET', '/api/v1/provisions')
      await delay(askEveryMs)
    }
  })()
  return {
    stop: () => {
      watching = false
      return looking
    },
  }
}

async function ask(address, method, path, body) {
  const answer = await globalThis.fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  await answer.text()
  // Who asks too often is told so; that is work too.
  if (!answer.ok && answer.status !== 429) throw new Error(`${method} ${path}: ${answer.status}`)
}

async function until(what, condition) {
  const deadline = Date.now() + 300_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await delay(100)
  }
}
