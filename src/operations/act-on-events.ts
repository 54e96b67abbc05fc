/**
 * Replays and skips events of the outbox, each in a transaction of its own together with its line in
 * the audit. Replaying all that is parked goes in order of seq; what is replayed is parked no more,
 * so a broken-off command goes on by being given again.
 */

import { sql, type Kysely } from 'kysely'
import type { OutboxOptions } from '../config/config.js'
import { AppError } from '../errors.js'
import { replayEvent, skipEvent } from '../outbox/operator-actions.js'
import { inRowTransaction } from '../postgres/row-transaction.js'
import type { Database } from '../postgres/schema.js'
import { appendAudit, appendOverall, lineOfRequest, type AuditEntry } from './audit-trail.js'
import { eventState, hasNewer, isInState, type EventState } from './event-state.js'
import { isChosen, type EventFilter } from './list-events.js'
import type { Order } from './read-input.js'
import { whyNotNow } from './row-end.js'
import { afterSkip } from './undo/undo-skip.js'

export interface OutboxContext {
  readonly db: Kysely<Database>
  readonly relay: OutboxOptions['relay']
  /** Called after each event that may go out now. */
  readonly onEventWritten?: () => void
}

export type EventTargets =
  /** As readUuids gives them. */
  | { readonly eventIds: readonly string[] }
  /** All that are parked and have no newer event of their deal. */
  | 'parked'

export interface EventCommand {
  readonly targets: EventTargets
  readonly order: Order | 'dry run'
  /** More events than this are refused as a whole; undefined: as many as there are. */
  readonly atMost?: number | undefined
  /** Ends the command after the event that is under way. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((events: number) => void) | undefined
}

export interface EventsResult {
  /** Events that were changed by this call, or in a dry run would be. */
  readonly affected: number
  /** Parked ones that someone else was quicker with. */
  readonly skipped: number
  readonly refused: readonly { readonly eventId: string; readonly why: string }[]
  readonly stopped: boolean
  /** The audit's line of a single event, by which its skip can be taken back. */
  readonly auditId: string | null
}

type Action = 'replay' | 'skip'

/**
 * Gives parked events, or such as wait in backoff, all their attempts again, from now.
 *
 * @throws AppError TOO_MANY, USAGE where Debezium relays, or DATABASE_UNAVAILABLE
 */
export function replayEvents(context: OutboxContext, command: EventCommand): Promise<EventsResult> {
  return actOnEvents(context, command, 'replay')
}

/** Takes unpublished events out for good. @throws as replayEvents does */
export function skipEvents(
  context: OutboxContext,
  command: EventCommand & { readonly targets: { readonly eventIds: readonly string[] } },
): Promise<EventsResult> {
  return actOnEvents(context, command, 'skip')
}

/** How many events a replay would go through. */
export async function countEvents(db: Kysely<Database>, targets: EventTargets): Promise<number> {
  return targets === 'parked' ? (await readParked(db)).length : targets.eventIds.length
}

/**
 * The parked events that a filter means, oldest first: `eventIds` no more than `limit`, `matched` all. One
 * with a newer event of its deal is not meant, for nothing can be done with it.
 *
 * @throws AppError INPUT_INVALID for what is no deal id
 */
export async function findParkedEvents(
  db: Kysely<Database>,
  filter: Omit<EventFilter, 'state'>,
  limit: number,
): Promise<{ readonly eventIds: readonly string[]; readonly matched: number }> {
  const { rows } = await sql<{ id: string; matched: number }>`
    select e.id, count(*) over ()::float8 as matched from messenger.outbox_events e
    where ${isInState.parked} and ${isChosen(filter)} and not ${hasNewer}
    order by e.seq limit ${limit}
  `.execute(db)
  return { eventIds: rows.map(({ id }) => id), matched: rows[0]?.matched ?? 0 }
}

/** How an event is named in the audit's `filter`, at its end. */
export function eventMark(id: string): string {
  return `event=${id.toLowerCase()}`
}

async function actOnEvents(
  context: OutboxContext,
  { targets, order, atMost, signal, onProgress }: EventCommand,
  action: Action,
): Promise<EventsResult> {
  const { db } = context
  refuseWithoutRelay(context)
  const ids = targets === 'parked' ? await readParked(db) : targets.eventIds
  if (atMost !== undefined && ids.length > atMost) {
    throw new AppError(
      'TOO_MANY',
      `This means ${ids.length} events, and at most ${atMost} can be done at once.`,
    )
  }
  const states = order === 'dry run' ? await readStates(db, ids) : undefined
  const refused: { eventId: string; why: string }[] = []
  let affected = 0
  let skipped = 0
  let auditId: string | null = null
  const result = (stopped: boolean): EventsResult => ({
    ...{ affected, skipped, refused, stopped, auditId },
  })
  for (const id of ids) {
    if (signal?.aborted === true) return result(true)
    const end: End =
      order === 'dry run'
        ? foresee(states?.get(id))
        : await actOnEvent(db, id, targets, entryOf(action, order, targets, id)).catch(
            (error: unknown) => whyNotNow(error, affected),
          )
    const isDone = end === 'foreseen' || 'line' in end
    if (isDone) affected += 1
    else if (targets === 'parked' && end.isSettled === true) skipped += 1
    else refused.push({ eventId: id, why: end.why })
    if (isDone && end !== 'foreseen') {
      auditId = ids.length === 1 ? end.line : null
      context.onEventWritten?.()
    }
    onProgress?.(affected + skipped + refused.length)
  }
  if (targets === 'parked' && order !== 'dry run' && affected > 0)
    await appendOverall(db, { action, order, filter: targets }, affected)
  return result(false)
}

/** @throws AppError USAGE where Debezium relays */
export function refuseWithoutRelay({ relay }: Pick<OutboxContext, 'relay'>): void {
  if (relay !== 'off') return
  throw new AppError(
    'USAGE',
    'Debezium relays the outbox (OUTBOX_RELAY=off), and reads each event once. ' +
      'To tell crm again, re-emit the deal: ' +
      'chat-provision-retry provisions reemit DEAL_ID --by NAME --reason TEXT',
  )
}

function entryOf(action: Action, order: Order, targets: EventTargets, id: string): AuditEntry {
  const chosenBy = targets === 'parked' ? `${targets} ` : ''
  return { action, order, filter: `${chosenBy}${eventMark(id)}` }
}

type End =
  /** A dry run's. */
  | 'foreseen'
  /** Done, with its line in the audit. */
  | { readonly line: string }
  | { readonly why: string; readonly isSettled?: boolean }

async function actOnEvent(
  db: Kysely<Database>,
  id: string,
  targets: EventTargets,
  entry: AuditEntry,
): Promise<End> {
  return inRowTransaction(db, async (trx): Promise<End> => {
    const doneByRequest = await lineOfRequest(trx, entry)
    if (doneByRequest !== undefined) return { line: doneByRequest }
    const result =
      entry.action === 'skip'
        ? await skipEvent(trx, id)
        : await replayEvent(trx, id, { onlyParked: targets === 'parked' })
    if (!result.done) return refusal(result.reason === 'not found' ? undefined : result.state)
    const before = entry.action === 'skip' ? afterSkip(id) : undefined
    return { line: await appendAudit(trx, entry, result.dealId, before) }
  })
}

/** What would come of it, told from the event's state. */
function foresee(state: EventState | undefined): End {
  return state === 'pending' || state === 'parked' ? 'foreseen' : refusal(state)
}

const reasons: Readonly<Record<EventState, string>> = {
  pending: 'it has changed meanwhile; try again',
  parked: 'it has changed meanwhile; try again',
  published: 'it is published already; to tell crm again, re-emit the deal',
  superseded: 'a newer event of its deal says all that it could',
  skipped: 'it was skipped already; to tell crm, re-emit the deal',
}

function refusal(state: EventState | undefined): End {
  if (state === undefined) return { why: 'there is no such event' }
  return { why: reasons[state], isSettled: true }
}

/** Oldest first. A parked event is rare, so their ids fit in memory. */
async function readParked(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select e.id from messenger.outbox_events e
    where ${isInState.parked} and not ${hasNewer}
    order by e.seq
  `.execute(db)
  return rows.map(({ id }) => id)
}

/** The states of those that exist; parked with a newer one counts as superseded. */
async function readStates(
  db: Kysely<Database>,
  ids: readonly string[],
): Promise<Map<string, EventState>> {
  const { rows } = await sql<{ id: string; state: EventState }>`
    select e.id, case when ${isInState.parked} and ${hasNewer} then 'superseded'
      else ${eventState} end as state
    from messenger.outbox_events e where e.id = any (${ids}::uuid[])
  `.execute(db)
  return new Map(rows.map(({ id, state }) => [id, state]))
}
