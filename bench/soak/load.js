/**
 * The messenger, crm and an operator at work: about twenty deals a second that need a chat, a tenth of them
 * as messages for the intake; some fail for a while, some until they are poison, mended and re-enqueued.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { dealKinds } from '../../dist/demo/deal-kinds.js'
import { feedDeals } from '../../dist/demo/feed-deals.js'
import { ask, kafkaClient, maxAttempts, topics } from './world.js'

const rowsPerSecond = 18
const messagesPerSecond = 2
const mendEveryMs = 30_000
const reconcileEveryMs = 300_000

/** Of a thousand deals; all others just have no chat yet. */
const mix = [
  ['stuck in Provisioning', 80],
  ['chat there, members missing', 50],
  ['constraint, good at 3rd try', 40],
  ['serialization, then good', 30],
  ['title is blank', 15],
  ['constraint, always', 5],
  ['deadlock, always', 3],
  ['its work ends the session', 1],
]
const ordinary = 'no chat was made'
/** Has no divisor in common with a thousand, so that the kinds come spread out. */
const stride = 617

export function startLoad(world) {
  const fed = new Map()
  const stopping = new globalThis.AbortController()
  const { signal } = stopping
  const counts = { notAcknowledged: 0, requeues: 0, reconciles: 0 }
  const work = [
    everySecond(signal, () => feedRows(world, fed, counts)),
    feedMessages(world, fed, counts, signal),
    every(mendEveryMs, signal, () => mend(world, counts)),
    every(reconcileEveryMs, signal, () => reconcile(world, counts)),
  ]
  return {
    /** By deal id, of the acknowledged ones: the roles that its chat must have in the end. */
    fed,
    counts,
    mend: () => mend(world, counts),
    async stop() {
      stopping.abort()
      await Promise.all(work)
    },
  }
}

let made = 0

function nextDeal() {
  made += 1
  let place = (made * stride) % 1_000
  const [name] = mix.find(([, share]) => (place -= share) < 0) ?? [ordinary]
  const deal = dealKinds.find((kind) => kind.name === name).make(made)
  // Due now; those that are to be found stuck have been so for longer than it takes.
  const ageSeconds = deal.row.status === 'Provisioning' ? 31 : 0
  return { ...deal, row: { ...deal.row, dueInSeconds: 0, ageSeconds } }
}

async function feedRows({ db }, fed, counts) {
  const deals = Array.from({ length: rowsPerSecond }, nextDeal)
  try {
    await feedDeals(db, deals)
  } catch {
    // The database is away: nothing was promised of these, though they may be there.
    counts.notAcknowledged += deals.length
    return
  }
  for (const { dealId, expected, members } of deals) {
    fed.set(dealId, (expected.roles ?? members.map(({ role }) => role).sort()).join())
  }
}

async function feedMessages({ kafka }, fed, counts, signal) {
  let producer
  await everySecond(signal, async () => {
    const deals = Array.from({ length: messagesPerSecond }, (_, n) => ({
      DealId: randomUUID(),
      Title: `Deal ${n}`,
      Members: ['Member', 'Owner'].map((Role) => ({ UserId: randomUUID(), Role })),
    }))
    try {
      if (producer === undefined) {
        producer = kafkaClient(kafka.brokers).producer({ allowAutoTopicCreation: false })
        await producer.connect()
      }
      const messages = deals.map((deal) => ({ key: deal.DealId, value: JSON.stringify(deal) }))
      await producer.send({ topic: topics.dealCreated, messages })
      for (const { DealId } of deals) fed.set(DealId, 'Member,Owner')
    } catch {
      // The broker is away; they may be on the topic, and are acknowledged to nobody.
      counts.notAcknowledged += deals.length
      await producer?.disconnect().catch(() => undefined)
      producer = undefined
    }
  })
  await producer?.disconnect().catch(() => undefined)
}

/** The operator: takes the causes of all poison away, then has it re-enqueued by one job. */
async function mend({ db, serve }, counts) {
  try {
    const { rows } = await sql`
      select deal_id as id from messenger.deal_chat_provisions
      where status = 'Failed' and attempts >= ${maxAttempts}
    `.execute(db)
    if (rows.length === 0) return
    const ids = rows.map(({ id }) => id)
    await sql`delete from chat_faults.faults where deal_id = any (${ids})`.execute(db)
    await sql`
      update messenger.deal_chat_provisions set title = 'mended'
      where deal_id = any (${ids}) and title !~ '[[:alnum:]]'
    `.execute(db)
  } catch {
    // The database is away; the next turn finds them again.
    return
  }
  const order = { filter: { poison: true }, reason: 'the cause was mended', by: 'soak' }
  if ((await ask(serve.address, 'POST', '/api/v1/provisions/requeue', order)) === 202) {
    counts.requeues += 1
  }
}

async function reconcile({ serve }, counts) {
  const order = { filter: { status: 'Ready' }, mend: true, reason: 'every so often', by: 'soak' }
  if ((await ask(serve.address, 'POST', '/api/v1/provisions/reconcile', order)) === 202) {
    counts.reconciles += 1
  }
}

const everySecond = (signal, work) => every(1_000, signal, work)

/** At a fixed rate; turns that were missed are not made up for. */
async function every(ms, signal, work) {
  let next = Date.now() + ms
  while (!signal.aborted) {
    await delay(Math.max(0, next - Date.now()), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    next = Math.max(next + ms, Date.now())
    await work()
  }
}
