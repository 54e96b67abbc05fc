/** The real thing beside the model: intake, job and operator on a database, and a look at all of it. */

import { randomUUID } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { IntakeMessage } from '../../src/intake/intake-message.js'
import { createMessageHandler, type MessageHandler } from '../../src/intake/message-handler.js'
import { requeueProvisions } from '../../src/operations/requeue-provisions.js'
import { createDatabase } from '../../src/postgres/connect.js'
import { probeDatabase } from '../../src/postgres/probe.js'
import { inRowTransaction } from '../../src/postgres/row-transaction.js'
import type { Database } from '../../src/postgres/schema.js'
import { lockDue, readAsOf } from '../../src/provisioning/candidates.js'
import { lastErrorText, workerDied } from '../../src/provisioning/last-error.js'
import type { MessengerChats } from '../../src/provisioning/messenger-chats.js'
import { createProvisionContext } from '../../src/provisioning/provision-context.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { markUnderWay } from '../../src/provisioning/row-writes.js'
import { createRunLedger } from '../../src/provisioning/run-ledger.js'
import { createTally } from '../../src/provisioning/tally.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { testRetryOptions, testTopic, type TestJob } from './job.js'
import type { ModelDeal } from './model-deals.js'
import type { TestDatabase } from './test-database.js'

export const maxAttempts = 3

export interface World {
  /** Superuser's, for what the messenger and its people do. */
  readonly admin: Kysely<Database>
  readonly job: TestJob
  /** deal-created, handled to its end. */
  take(deal: ModelDeal): Promise<boolean>
  /** deal-created, whose session the server ends just before the commit while the intake stops. */
  takeAndLose(deal: ModelDeal): Promise<boolean>
  /** A cycle whose process dies over this deal: an open run, and what was put on record. */
  die(deal: ModelDeal): Promise<void>
  /** True where it is done, false where it is refused. */
  requeue(deal: ModelDeal): Promise<boolean>
  close(): Promise<void>
}

export function createWorld(database: TestDatabase, job: TestJob): World {
  const db = createDatabase({
    connectionString: database.url,
    applicationName: 'model',
    max: 2,
    onConnectionLost: () => undefined,
  })
  const steady = createHandler(db, database.url, referenceChats)
  return {
    admin: database.admin,
    job,
    take: (deal) => steady.handle(dealCreated(deal), new AbortController().signal),
    takeAndLose: (deal) => {
      const stop = new AbortController()
      const lossy = createHandler(db, database.url, {
        ...referenceChats,
        creation: undefined,
        async reconcileParticipants(trx, chatId, provisionId) {
          const written = await referenceChats.reconcileParticipants(trx, chatId, provisionId)
          stop.abort()
          await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)
          return written
        },
      })
      return lossy.handle(dealCreated(deal), stop.signal)
    },
    die: (deal) => dieOver(db, deal),
    async requeue(deal) {
      const order = { by: 'model', reason: 'because' }
      const context = { db, topic: testTopic, maxAttempts }
      const command = { targets: { dealIds: [deal.dealId] }, order }
      const { affected } = await requeueProvisions(context, command)
      return affected === 1
    },
    close: () => db.destroy(),
  }
}

async function dieOver(db: Kysely<Database>, { dealId }: ModelDeal): Promise<void> {
  const asOf = await readAsOf(db)
  const isCareful = await createRunLedger(db, 'a worker that was killed').open(randomUUID(), asOf)
  const row = await db
    .selectFrom('messenger.deal_chat_provisions')
    .select(['id', 'status', 'attempts'])
    .where('deal_id', '=', dealId)
    .executeTakeFirst()
  if (row === undefined) return
  const mayHaveKilled = row.status === 'Provisioning' && row.attempts > 0
  if (!isCareful && !mayHaveKilled) return
  const { stuckProvisioningAfterMs } = testRetryOptions
  await inRowTransaction(db, async (trx) => {
    const locked = await lockDue(trx, row.id, { asOf, stuckProvisioningAfterMs, maxAttempts })
    if (locked === undefined) return
    const stamp = { attempts: locked.attempts + 1, asOf, backoffMs: 60_000 }
    await markUnderWay(trx, row.id, lastErrorText(workerDied), stamp)
  })
}

function createHandler(db: Kysely<Database>, url: string, chats: MessengerChats): MessageHandler {
  const log = createLogger({ level: 'silent' })
  return createMessageHandler({
    db,
    topic: testTopic,
    provisioning: createProvisionContext(chats, testRetryOptions.participantRoles),
    probe: () => probeDatabase(url, 'model probe'),
    random: Math.random,
    log,
    tally: createTally(log, { ...nothing, cycleCompleted: () => undefined }, () => undefined),
    now: () => performance.now(),
    onTry: () => undefined,
    onParked: () => undefined,
  })
}

const nothing = { retried: () => undefined, succeeded: () => undefined, poison: () => undefined }

let nextOffset = 0

function dealCreated(deal: ModelDeal): IntakeMessage {
  nextOffset += 1
  const value = {
    DealId: deal.dealId,
    Title: deal.title,
    Members: deal.members.map((user) => ({ UserId: user, Role: 'Member' })),
  }
  return {
    topic: 'pin.crm.deal-created.v1',
    partition: 0,
    offset: String(nextOffset),
    key: Buffer.from(deal.dealId),
    value: Buffer.from(JSON.stringify(value)),
    correlationId: undefined,
  }
}
