/**
 * One deal-created in one transaction: the intention, and under its lock the provision, the outcome
 * and the event, by the same code as the retry job.
 *
 * - Made: Ready, with its event. attempts stays 0, for attempts count the job's runs, not this one.
 * - The provision's own failure: the savepoint undoes the work, the row is left Failed and due at once,
 *   so the job's next cycle takes it. No event: for crm the chat is still being made.
 * - Contention: the whole transaction again, a few times; then Failed by a transaction of its own.
 * - Infrastructure: all of it is lost, the offset is not committed, the message comes again.
 *
 * A deal that has its intention already is left alone, Ready or not: the intention is written once,
 * from then on it is the job's. So a redelivered message can neither burn attempts, nor shorten a
 * backoff, nor bring a poison row back, and it says nothing twice.
 */

import { sql, type Kysely, type Transaction } from 'kysely'
import type { Random } from '../chokaq/kernel/backoff.js'
import { appendDealChatStatusChanged } from '../outbox/append-event.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { lockVersion, type ClaimedProvision } from '../provisioning/candidates.js'
import { classifyRowFailure, lastErrorText, type RowFailure } from '../provisioning/last-error.js'
import { provision, type ProvisionContext } from '../provisioning/provision.js'
import { retryInPlace, type AttemptOutcome } from '../provisioning/retry-in-place.js'
import { markFailed, markReady, type AttemptStamp } from '../provisioning/row-writes.js'
import { currentTraceparent, withAttemptSpan } from '../telemetry/tracing.js'
import type { DealCreated } from './deal-created.js'
import { insertIntention } from './intention.js'

export interface TakeInContext {
  readonly db: Kysely<Database>
  /** Of the events. */
  readonly topic: string
  readonly provisioning: ProvisionContext
  /** Does a fresh session answer, and can it write? */
  readonly probe: () => Promise<boolean>
  /** False once the intake is being stopped. */
  readonly mayGoOn: () => boolean
  readonly random: Random
}

/** No run of the job's. */
const byIntake = { runId: null, durationMs: null }

/** As of the job's attempts; the database may also refuse to store the intention as such. */
export type TakeInOutcome =
  AttemptOutcome | { readonly kind: 'refused'; readonly failure: RowFailure }

/** @param correlationId of the feed row and the event */
export function takeInDeal(
  deal: DealCreated,
  correlationId: string,
  context: TakeInContext,
): Promise<TakeInOutcome> {
  let refused: RowFailure | undefined
  return withAttemptSpan({ ...deal, attempts: 0 }, async () => {
    const outcome = await retryInPlace(
      context,
      () => takeIn(deal, correlationId, context),
      (failure) =>
        retryInPlace(
          context,
          () => recordFailure(deal, failure, context),
          (finalFailure, error) => {
            // What holds back a value or a rule of the tables will do so for ever. Anything else, a
            // missing right or table, is mended by a person, and the message waits for that.
            if (finalFailure.class === 'data' || finalFailure.class === 'constraint')
              refused = finalFailure
            return Promise.resolve({ kind: 'untouched', infrastructure: false, error })
          },
        ),
    )
    return refused === undefined ? outcome : { kind: 'refused', failure: refused }
  })
}

async function takeIn(
  deal: DealCreated,
  correlationId: string,
  context: TakeInContext,
): Promise<AttemptOutcome> {
  return withIntention(deal, context, async (trx, row, stamp) => {
    await sql`savepoint provision`.execute(trx)
    let chatId: string
    try {
      chatId = await provision(trx, row, correlationId, context.provisioning)
    } catch (error) {
      const failure = classifyRowFailure(error)
      if (failure.class === 'infrastructure' || failure.class === 'contention') throw error
      await sql`rollback to savepoint provision`.execute(trx)
      await markFailed(trx, row.id, lastErrorText(failure), stamp, byIntake)
      return { kind: 'retried', failure, attempts: stamp.attempts }
    }
    await markReady(trx, row.id, chatId, stamp)
    await appendDealChatStatusChanged(trx, {
      topic: context.topic,
      dealId: row.dealId,
      chatId,
      status: 'Ready',
      correlationId,
      traceparent: currentTraceparent(),
    })
    return { kind: 'provisioned', chatId, attempts: stamp.attempts }
  })
}

async function recordFailure(
  deal: DealCreated,
  failure: RowFailure,
  context: TakeInContext,
): Promise<AttemptOutcome> {
  return withIntention(deal, context, async (trx, row, stamp) => {
    await markFailed(trx, row.id, lastErrorText(failure), stamp, byIntake)
    return { kind: 'retried', failure, attempts: stamp.attempts }
  })
}

/** Runs the work in the transaction that writes the deal's intention, if it has none yet. */
async function withIntention(
  deal: DealCreated,
  context: TakeInContext,
  work: (
    trx: Transaction<Database>,
    row: ClaimedProvision,
    stamp: AttemptStamp,
  ) => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  return inRowTransaction(context.db, async (trx) => {
    const intention = await insertIntention(trx, deal)
    if (intention === undefined) return { kind: 'skipped' }
    const row = await lockVersion(trx, intention.id, intention.xmin)
    if (row === undefined) throw new Error('the intention just written is gone')
    return work(trx, row, { attempts: 0, asOf: intention.at, backoffMs: 0 })
  })
}
