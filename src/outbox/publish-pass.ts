/**
 * One pass of the relay: takes a batch of due events, sends it, and puts on record what came of it.
 *
 * Nothing here is inside a transaction: each statement commits by itself, so no session is held
 * open while Kafka is waited for. Events that are acknowledged but not yet marked when the process
 * dies are sent again: at least once, and consumers drop by `ce_sequence`.
 *
 * While a batch is with the broker, the one before it is marked and the one behind it is read
 * (`SessionWork` has these one after the other). The next send waits for the mark of the batch before
 * the last, so no more than two batches are ever acknowledged and unmarked.
 */

import { backoffMs, type Random } from '../chokaq/kernel/backoff.js'
import type { RelayMetrics } from '../telemetry/metric-ports.js'
import { markFailed, withPublishSpan } from '../telemetry/tracing.js'
import { markPublished, recordFailure } from './delivery-record.js'
import type { DueBatch, ReadContext } from './due-batch.js'
import type { DueEvent } from './due-events.js'
import { logOutbox } from './outbox-log.js'
import { UnreadableEvent } from './outbox-message.js'
import type { OutgoingMessage, Publisher, PublishOutcome } from './publisher.js'
import { inSendableBatches } from './sendable-batches.js'
import type { SessionWork } from './session-work.js'
import type { TransportState } from './transport-state.js'

/**
 * Between the attempts of an event that fails by itself. The first ones are quick, for a relay of a
 * newer version may take over in a rolling upgrade; with 10 attempts it is parked, and someone is
 * told, after four minutes.
 */
const eventBackoff = { baseMs: 1_000, factor: 2, capMs: 60_000, jitter: 0.2 }

export interface PassContext extends ReadContext {
  readonly publisher: Publisher
  readonly transport: TransportState
  readonly maxAttempts: number
  readonly metrics: RelayMetrics
  readonly random: Random
  /** Gives up the wait for an answer: the process is to end, or the lock is lost. */
  readonly signal: AbortSignal
}

interface Item {
  readonly row: DueEvent
  readonly message: OutgoingMessage
}

/** The state of one pass: deals whose event has not gone out, so that no later one of theirs does. */
interface Pass extends PassContext {
  readonly work: SessionWork
  readonly heldDeals: Set<string>
  readonly onMarked: (events: number) => void
}

export interface PassEnd {
  /** Every event was acknowledged; its mark may still be under way. */
  readonly clean: boolean
}

/**
 * Sends one batch; the caller holds the relay's lock.
 *
 * @param work what goes over the session, in turn; the marks are left in it
 * @param onMarked told of each mark, when it is done
 */
export async function publishBatch(
  batch: DueBatch,
  context: PassContext,
  work: SessionWork,
  onMarked: (events: number) => void,
): Promise<PassEnd> {
  const pass: Pass = { ...context, work, heldDeals: new Set(), onMarked }
  const items: Item[] = []
  for (const { row, message } of batch.events) {
    if (pass.heldDeals.has(dealOf(row))) continue
    if (message instanceof UnreadableEvent) await fail(pass, row, message.message)
    else items.push({ row, message })
  }
  for (const { topic, batch: sendable } of inSendableBatches(items)) {
    await deliver(pass, topic, sendable)
  }
  return { clean: pass.heldDeals.size === 0 }
}

/** Sends the batch, in halves where it is refused as a whole, until the event at fault is alone. */
async function deliver(pass: Pass, topic: string, items: readonly Item[]): Promise<void> {
  const batch = items.filter(({ row }) => !pass.heldDeals.has(dealOf(row)))
  const [first] = batch
  if (first === undefined) return
  const outcome = await send(pass, topic, batch)
  if (outcome?.kind === 'published') {
    // Of the batch before and whatever else is under way: what can't be marked must not pile up.
    await pass.work.done()
    pass.work.begin(() => mark(pass, batch))
  } else if (outcome?.kind === 'rejected') {
    if (batch.length === 1) return fail(pass, first.row, outcome.reason)
    const half = Math.ceil(batch.length / 2)
    await deliver(pass, topic, batch.slice(0, half))
    await deliver(pass, topic, batch.slice(half))
  } else {
    // The way is barred, which `transport` has noted, and the events stay as they are. It may open again
    // within this very pass: what these deals have in a later batch must not go out before.
    for (const { row } of batch) pass.heldDeals.add(dealOf(row))
  }
}

/** Undefined where the topic or the whole transport is barred just now. */
async function send(
  pass: Pass,
  topic: string,
  batch: readonly Item[],
): Promise<PublishOutcome | undefined> {
  if (pass.signal.aborted) return undefined
  const messages = batch.map(({ message }) => message)
  const traceparents = batch.map(({ row }) => row.traceparent)
  return pass.transport.send(topic, () =>
    withPublishSpan({ topic, traceparents }, async (span) => {
      const outcome = await pass.publisher.publish(topic, messages, pass.signal)
      if (outcome.kind !== 'published') markFailed(span, outcome.kind)
      return outcome
    }),
  )
}

async function mark(pass: Pass, batch: readonly Item[]): Promise<void> {
  const marked = await markPublished(
    pass.db,
    batch.map(({ row }) => row.id),
  )
  const stale = batch.length - marked
  pass.onMarked(marked)
  if (marked > 0) {
    pass.metrics.published(marked)
    logOutbox(pass.log, 'outbox published', { events: marked })
  }
  if (stale > 0) {
    pass.metrics.staleMarks(stale)
    logOutbox(pass.log, 'outbox mark refused', { events: stale })
  }
}

/** Spends an attempt of the event and holds back what its deal has behind it. */
async function fail(pass: Pass, row: DueEvent, reason: string): Promise<void> {
  pass.heldDeals.add(dealOf(row))
  await pass.work.done()
  const recorded = await recordFailure(pass.db, {
    id: row.id,
    reason,
    delayMs: backoffMs(eventBackoff, row.attempts + 1, pass.random),
    maxAttempts: pass.maxAttempts,
  })
  if (recorded === undefined) return
  const fields = { eventId: row.id, dealId: row.aggregate_id, attempts: recorded.attempts, reason }
  if (recorded.parked) {
    pass.metrics.parked(1)
    logOutbox(pass.log, 'outbox parked', fields)
  } else {
    logOutbox(pass.log, 'outbox event failed', fields)
  }
}

/** Order is per deal and topic: across topics there is none that a consumer could see. */
function dealOf(row: DueEvent): string {
  return `${row.topic} ${row.aggregate_id}`
}
