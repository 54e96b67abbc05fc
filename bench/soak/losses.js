/** Is every acknowledged deal where it must be, once and only once, in the tables and for crm? */

import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { consumeTopic } from '../../dist/demo/kafka-topic.js'
import { CrmReader } from '../../dist/demo/crm-reader.js'
import { lookAtDeals } from '../../dist/demo/look-at-deals.js'
import { kafkaClient, topics } from './world.js'

const settleMs = 300_000
const lookEveryMs = 2_000
/** What crm may see of one deal: Ready, or Failed and re-enqueued as often as it was, then Ready. */
const rightHistory = /^(Failed,Provisioning,)*Ready$/

/** Mends what is poison, until all deals are Ready and all events published, or patience ends. */
export async function settle({ db }, load) {
  const deadline = Date.now() + settleMs
  for (;;) {
    await load.mend()
    const { rows } = await sql`
      select (select count(*)::int from messenger.deal_chat_provisions where status <> 'Ready') as open,
        (select count(*)::int from messenger.outbox_events where published_at is null) as waiting
    `.execute(db)
    if (rows[0].open + rows[0].waiting === 0 || Date.now() > deadline) return rows[0]
    await delay(lookEveryMs)
  }
}

/** @returns what crm has seen, and a line for each fault */
export async function findLosses({ db, kafka }, fed) {
  const looks = await lookAtDeals(db)
  const reader = await readAsCrm(kafka, looks.keys())
  const faults = [...reader.faults]
  for (const [dealId, roles] of fed) {
    const look = looks.get(dealId)
    if (look === undefined) faults.push(`${dealId}: lost`)
    else if (look.roles.join() !== roles)
      faults.push(`${dealId}: participants ${look.roles.join()}`)
  }
  for (const look of looks.values()) {
    const seen = reader.seen(look.dealId)
    const history = seen.map(({ status }) => status).join()
    if (look.status !== 'Ready') faults.push(`${look.dealId}: ${look.status} ${look.lastError}`)
    if (look.chatIds.length !== 1) faults.push(`${look.dealId}: ${look.chatIds.length} chats`)
    if (look.feedRows !== 1) faults.push(`${look.dealId}: ${look.feedRows} feed rows`)
    if (!rightHistory.test(history)) faults.push(`${look.dealId}: crm saw ${history || 'nothing'}`)
    if (seen.at(-1)?.chatId !== look.chatId) faults.push(`${look.dealId}: crm has another chat`)
  }
  return { deals: looks.size, acknowledged: fed.size, ...reader.counts, faults }
}

async function readAsCrm(kafka, dealIds) {
  const reader = new CrmReader(dealIds)
  let taken = 0
  const counting = {
    take: (message) => {
      taken += 1
      reader.take(message)
    },
  }
  const wanted = await storedMessages(kafka.brokers)
  const consumer = await consumeTopic({ brokers: kafka.brokers }, topics.events, counting)
  const deadline = Date.now() + settleMs
  while (taken < wanted) {
    if (consumer.failure) throw consumer.failure
    if (Date.now() > deadline) throw new Error(`read ${taken} messages of ${wanted}`)
    await delay(lookEveryMs / 10)
  }
  await consumer.stop()
  return reader
}

async function storedMessages(brokers) {
  const admin = kafkaClient(brokers).admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(topics.events)
  await admin.disconnect()
  return offsets.reduce((sum, { high }) => sum + Number(high), 0)
}
