/**
 * A request is carried out once, however often it is sent: by a double click, a reload, a client that
 * saw no answer. Whoever sends it again is told what came of the first.
 *
 * The id is claimed in the database, so it holds among all instances and over a restart. A try that was
 * broken off is taken over by the next one: each row that it has changed is on record with the request's
 * id in the same transaction, and a job is enqueued in the one that keeps the outcome.
 */

import { createHash, randomUUID } from 'node:crypto'
import { sql, type Kysely, type Transaction } from 'kysely'
import type { CallersTransaction, JobQueue } from '../chokaq/index.js'
import { AppError } from '../errors.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { pause } from '../timers.js'

export interface OperatorRequest {
  readonly id: string
  /** The same id with other content is another request, which is not carried out. */
  readonly asked: string
}

/**
 * @param scope what makes the id one of all: where it was sent to, and the id that came with it
 * @param asked what survives JSON; the order of its fields counts
 */
export function requestOf(scope: readonly string[], asked: unknown): OperatorRequest {
  return { id: digest(scope), asked: digest(asked) }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** What came of it; undefined where it was not carried out, or not to its end. */
export async function outcomeOf(db: Kysely<Database>, scope: readonly string[]): Promise<unknown> {
  return (await find(db, { id: digest(scope) }))?.kept?.outcome
}

export type Once<Outcome> =
  | { readonly isOther: false; readonly outcome: Outcome; readonly isRepeat: boolean }
  /** The id was sent before with other content, which was carried out or not (yet); nothing was done. */
  | { readonly isOther: true; readonly firstIsDone: boolean }

/**
 * Keeps the outcome when and only when the transaction commits, as what can't be told afterwards to have
 * been done must.
 *
 * @throws where another try has kept one: the transaction is then to end with that
 */
export type Keep<Outcome> = (trx: Transaction<Database>, outcome: Outcome) => Promise<void>

class KeptBefore extends Error {}

/** A double click is told what came of it soon after the first click is. */
const lookAgainMs = 100
/** The next one to ask takes over from a try that has not said for so long that it lives. */
const leaseMs = 10_000
/** One that fails does no harm yet. */
const renewMs = leaseMs / 4

/**
 * @param act gives what survives JSON. What it throws is not remembered, and the same request may come
 *   again, so it throws too where it was ended early. It may be run beside a try that has hung.
 * @param options.whileUnderWay what to do where another try has not ended yet
 * @throws what `act` throws, or what the database throws before that: then nothing was done;
 *   AppError UNDER_WAY where that is to be refused
 */
export async function carryOutOnce<Outcome>(
  db: Kysely<Database>,
  request: OperatorRequest,
  act: (request: OperatorRequest, keep: Keep<Outcome>) => Promise<Outcome>,
  { whileUnderWay = 'wait' }: { readonly whileUnderWay?: 'wait' | 'refuse' } = {},
): Promise<Once<Outcome>> {
  const runner = randomUUID()
  for (;;) {
    if (await claim(db, request, runner)) break
    const known = await find<Outcome>(db, request)
    if (known?.asked !== undefined && known.asked !== request.asked) {
      return { isOther: true, firstIsDone: known.kept !== null }
    }
    if (known?.kept != null) return { isOther: false, outcome: known.kept.outcome, isRepeat: true }
    if (known !== undefined && whileUnderWay === 'refuse') throw underWay()
    await pause(lookAgainMs)
  }
  let outcome: Outcome
  const heartbeat = setInterval(
    () => void renew(db, request, runner).catch(() => undefined),
    renewMs,
  )
  try {
    outcome = await act(request, async (trx, ended) => {
      if (!(await remember(trx, request, runner, ended))) throw new KeptBefore()
    })
  } catch (error) {
    const kept = error instanceof KeptBefore ? (await find<Outcome>(db, request))?.kept : null
    if (kept != null) return { isOther: false, outcome: kept.outcome, isRepeat: true }
    // Where this fails too, the lease lets go of it.
    await letGo(db, request, runner).catch(() => undefined)
    throw error
  } finally {
    clearInterval(heartbeat)
  }
  // It is done, and is told so; should it come again, the records of its changes stand in for this.
  await remember(db, request, runner, outcome).catch(() => undefined)
  return { isOther: false, outcome, isRepeat: false }
}

function underWay(): AppError {
  return new AppError('UNDER_WAY', 'The first of this request is under way. Send it again soon.')
}

async function claim(
  db: Kysely<Database>,
  { id, asked }: OperatorRequest,
  runner: string,
): Promise<boolean> {
  const { rows } = await sql`
    insert into messenger.operator_requests as r (id, asked, runner)
    values (${id}, ${asked}, ${runner}::uuid)
    on conflict (id) do update set runner = excluded.runner, begun_at = excluded.begun_at
    where r.outcome is null and r.asked = excluded.asked
      and r.begun_at < excluded.begun_at - ${leaseMs} * interval '1 millisecond'
    returning id
  `.execute(db)
  return rows.length > 0
}

/** So that one which takes long is not run twice. */
async function renew(db: Kysely<Database>, { id }: OperatorRequest, runner: string): Promise<void> {
  await sql`
    update messenger.operator_requests set begun_at = clock_timestamp()
    where id = ${id} and runner = ${runner}::uuid and outcome is null
  `.execute(db)
}

interface Known<Outcome> {
  readonly asked: string
  readonly kept: { readonly outcome: Outcome } | null
}

async function find<Outcome>(
  db: Kysely<Database>,
  { id }: Pick<OperatorRequest, 'id'>,
): Promise<Known<Outcome> | undefined> {
  const { rows } = await sql<Known<Outcome>>`
    select asked, outcome as kept from messenger.operator_requests where id = ${id}
  `.execute(db)
  return rows[0]
}

/** Lets a try that had hung and the one that took over from it look and move one behind the other. */
export async function lockRequest(
  trx: Transaction<Database>,
  { requestId }: { readonly requestId?: string },
): Promise<void> {
  if (requestId === undefined) return
  await sql`
    select from messenger.operator_requests where id = ${requestId} for no key update
  `.execute(trx)
}

async function letGo(db: Kysely<Database>, { id }: OperatorRequest, runner: string): Promise<void> {
  await sql`
    delete from messenger.operator_requests
    where id = ${id} and runner = ${runner}::uuid and outcome is null
  `.execute(db)
}

/** Of two that ran, because one had hung, the first to end is the one that is told of: false for the other. */
async function remember(
  db: Kysely<Database>,
  { id, asked }: OperatorRequest,
  runner: string,
  outcome: unknown,
): Promise<boolean> {
  const { rows } = await sql`
    insert into messenger.operator_requests as r (id, asked, runner, outcome)
    values (${id}, ${asked}, ${runner}::uuid, ${JSON.stringify({ outcome })}::json)
    on conflict (id) do update set outcome = excluded.outcome
    where r.outcome is null
    returning id
  `.execute(db)
  return rows.length > 0
}

/**
 * A job is made when and only when what is told of it is kept: its idempotency key alone would let it be
 * made again once it has ended.
 *
 * @param outcomeOf what is told of the job of this id
 */
export async function enqueueOnce<Outcome>(
  { db, queue }: { readonly db: Kysely<Database>; readonly queue: JobQueue<CallersTransaction> },
  job: Parameters<JobQueue<CallersTransaction>['enqueue']>,
  keep: Keep<Outcome>,
  outcomeOf: (jobId: string) => Outcome,
): Promise<Outcome> {
  const [kind, payload, options] = job
  const outcome = await inRowTransaction(db, async (trx) => {
    const { id } = await queue.enqueue(kind, payload, options, trx)
    const told = outcomeOf(id)
    await keep(trx, told)
    return told
  })
  queue.wake()
  return outcome
}

/** A form that is sent again after so long is of a page that nobody has open any more. */
const keptFor = sql`interval '7 days'`

/** Gives how many were deleted. */
export async function pruneRequests(db: Kysely<Database>): Promise<number> {
  const result = await sql`
    delete from messenger.operator_requests where begun_at < clock_timestamp() - ${keptFor}
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}
