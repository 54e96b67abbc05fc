/**
 * What happens to deals while the worker is at them: it is killed over one, the deal-created consumer
 * finishes some that it holds itself, and an operator mends poison and re-enqueues it.
 */

import { randomUUID } from 'node:crypto'
import { sql, type ControlledTransaction, type Kysely } from 'kysely'
import { appendDealChatStatusChanged } from '../outbox/append-event.js'
import type { Database } from '../postgres/schema.js'
import { referenceChats } from '../provisioning/reference-chats.js'
import { requeueProvisions } from '../operations/requeue-provisions.js'
import { maxAttempts, type DemoDeal, type Scene } from './demo-deal.js'
import type { Looks, RunsLook } from './look-at-deals.js'
import { count } from './result-table.js'

export interface SceneContext {
  readonly db: Kysely<Database>
  readonly topic: string
  /** Ends the worker as a crash would, and starts it again. */
  readonly crashWorker: () => Promise<void>
  readonly say: (line: string) => void
}

/** One scene: looks at each turn whether its moment has come. */
interface Play {
  /** True when it is over. */
  readonly turn: (looks: Looks, runs: RunsLook) => Promise<boolean>
  /** Lets go of what it holds, played or not. */
  readonly close: () => Promise<void>
}

export interface Scenes {
  /** True when all are over. */
  turn(looks: Looks, runs: RunsLook): Promise<boolean>
  close(): Promise<void>
}

/** Takes the locks that the scenes need, so it comes before the worker starts. */
export async function setScenes(
  context: SceneContext,
  deals: readonly DemoDeal[],
): Promise<Scenes> {
  const plays: Play[] = []
  const of = (scene: Scene): DemoDeal[] => deals.filter((deal) => deal.scene === scene)
  for (const victim of of('worker is killed')) plays.push(await killing(context, victim))
  if (of('consumer finishes').length > 0) {
    plays.push(await consuming(context, of('consumer finishes')))
  }
  if (of('operator mends').length > 0) plays.push(mending(context, of('operator mends')))
  const over = new Set<Play>()
  return {
    async turn(looks, runs) {
      for (const play of plays) {
        if (!over.has(play) && (await play.turn(looks, runs))) over.add(play)
      }
      return over.size === plays.length
    },
    async close() {
      await Promise.all(plays.map((play) => play.close()))
    },
  }
}

/**
 * An uncommitted chat of the same deal holds the worker up in the middle of its work on it: there it
 * is killed, as certainly as if the work itself had done it.
 */
async function killing(context: SceneContext, victim: DemoDeal): Promise<Play> {
  const rival = await context.db.startTransaction().execute()
  const { rows: pids } = await sql<{ pid: number }>`
    insert into messenger.chats (id, kind, status, deal_id, title)
    values (gen_random_uuid(), 'Deal', 'Active', ${victim.dealId}, 'never committed')
    returning pg_backend_pid() as pid
  `.execute(rival)
  return {
    async turn() {
      // Not in the rival's transaction, which would go on seeing the sessions of its first look.
      const { rows } = await sql<{ blocked: boolean }>`
        select exists (select from pg_stat_activity
          where ${pids[0]?.pid}::int = any(pg_blocking_pids(pid))) as blocked
      `.execute(context.db)
      if (rows[0]?.blocked !== true) return false
      await context.crashWorker()
      await rollback(rival)
      context.say('The worker was killed (kill -9) in the middle of a deal, and started again.')
      return true
    },
    close: () => rollback(rival),
  }
}

/** The consumer holds its rows' locks; it finishes them once the worker has been seen to skip them. */
async function consuming(context: SceneContext, deals: readonly DemoDeal[]): Promise<Play> {
  const consumer = await context.db.startTransaction().execute()
  await consumer
    .selectFrom('messenger.deal_chat_provisions')
    .select('id')
    .where(
      'id',
      'in',
      deals.map(({ id }) => id),
    )
    .orderBy('id')
    .forUpdate()
    .execute()
  return {
    async turn(_, runs) {
      if (runs.skipped === 0) return false
      for (const deal of deals) await finishAsConsumer(consumer, deal, context.topic)
      await consumer.commit().execute()
      context.say(
        `The deal-created consumer finished what it held: ${count(deals.length, 'deal')}.`,
      )
      return true
    },
    close: () => rollback(consumer),
  }
}

async function finishAsConsumer(
  trx: ControlledTransaction<Database>,
  { id, dealId, row }: DemoDeal,
  topic: string,
): Promise<void> {
  const chatId = randomUUID()
  const { title, projectId, tenantId: dealTenantId } = row
  await referenceChats.create(trx, { id: chatId, dealId, title, projectId, dealTenantId })
  await referenceChats.ensureFeedRow(trx, chatId, randomUUID())
  await referenceChats.reconcileParticipants(trx, chatId, id)
  await trx
    .updateTable('messenger.deal_chat_provisions')
    .set({ status: 'Ready', chat_id: chatId, updated_at: sql<string>`clock_timestamp()` })
    .where('id', '=', id)
    .execute()
  const event = { topic, dealId, chatId, status: 'Ready' } as const
  await appendDealChatStatusChanged(trx, { ...event, correlationId: null, traceparent: null })
}

/** As the runbook has it: mend the row, then re-enqueue it. */
function mending(context: SceneContext, deals: readonly DemoDeal[]): Play {
  const isPoison = (looks: Looks, { dealId }: DemoDeal): boolean => {
    const look = looks.get(dealId)
    return look?.status === 'Failed' && look.attempts === maxAttempts
  }
  return {
    async turn(looks) {
      if (!deals.every((deal) => isPoison(looks, deal))) return false
      const dealIds = deals.map(({ dealId }) => dealId)
      await context.db
        .updateTable('messenger.deal_chat_provisions')
        .set({ title: 'Объект, ЖК «Север»' })
        .where('deal_id', 'in', dealIds)
        .execute()
      await requeueProvisions(
        { db: context.db, topic: context.topic, maxAttempts },
        { targets: { dealIds }, order: { by: 'demo', reason: 'the title was mended' } },
      )
      context.say(
        `The operator mended and re-enqueued what was poison: ${count(deals.length, 'deal')}.`,
      )
      return true
    },
    close: () => Promise.resolve(),
  }
}

async function rollback(trx: ControlledTransaction<Database>): Promise<void> {
  if (trx.isCommitted || trx.isRolledBack) return
  await trx.rollback().execute()
}
