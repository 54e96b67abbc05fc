/**
 * What becomes of one message: taken in, left because its deal is known, or parked. Until one of
 * these stands in the database the message is not done, so an outage is waited out right here, and
 * its successors on the partition wait with it: none is lost, none is skipped.
 */

import type { Logger } from 'pino'
import { uuidv7 } from '../uuid.js'
import { backoffMs } from '../chokaq/kernel/backoff.js'
import { classifyFailure } from '../postgres/failure-class.js'
import { lastErrorText } from '../provisioning/last-error.js'
import type { Tally } from '../provisioning/tally.js'
import { pause } from '../timers.js'
import { readDealCreated } from './deal-created.js'
import { logIntake } from './intake-log.js'
import type { IntakeMessage } from './intake-message.js'
import { parkMessage } from './parked-messages.js'
import { takeInDeal, type TakeInContext } from './take-in-deal.js'

export interface MessageHandlerOptions extends Omit<TakeInContext, 'mayGoOn'> {
  readonly log: Logger
  readonly tally: Tally
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Called at each try, so that it can be told from standing still. */
  readonly onTry: () => void
  /** Called for each message that was set aside. */
  readonly onParked: () => void
}

export interface MessageHandler {
  /**
   * True when the message is done and its offset may be committed; false when the intake was stopped
   * first. Never rejects.
   */
  handle(message: IntakeMessage, stopping: AbortSignal): Promise<boolean>
  /** Why messages wait, or undefined while they flow. */
  readonly failure: string | undefined
}

/**
 * A failover takes seconds, and the deal's page shows "creating" meanwhile: the first tries come
 * soon. Ten seconds at the most after the database is back, everything flows.
 */
const outageBackoff = { baseMs: 500, factor: 2, capMs: 10_000, jitter: 0.2 }

export function createMessageHandler(options: MessageHandlerOptions): MessageHandler {
  const { log, now, random } = options
  /** What holds each message that waits; one per partition at the most. */
  const obstacles = new Map<IntakeMessage, string>()
  /** What this outage was told to be so far: it may show itself by several codes in turn. */
  const told = new Set<string>()
  let waitingSince = 0

  /** Once per reason: an outage of an hour is one line, not one per try and partition. */
  const sayWaiting = (message: IntakeMessage, error: unknown): void => {
    const reason = classifyFailure(error).code
    if (obstacles.size === 0) {
      waitingSince = now()
      told.clear()
    }
    obstacles.set(message, reason)
    if (!told.has(reason)) logIntake(log, 'intake waits for the database', { reason, err: error })
    told.add(reason)
  }
  const sayFlowing = (message: IntakeMessage): void => {
    if (!obstacles.delete(message) || obstacles.size > 0) return
    logIntake(log, 'intake flows again', { afterMs: Math.round(now() - waitingSince) })
  }

  return {
    async handle(message, stopping) {
      const isStopping = (): boolean => stopping.aborted
      for (let tries = 1; !isStopping(); tries += 1) {
        options.onTry()
        const obstacle = await handleOnce(message, stopping, options).catch(asItIs)
        if (obstacle === undefined) {
          sayFlowing(message)
          return true
        }
        if (isStopping()) break
        sayWaiting(message, obstacle)
        await pause(backoffMs(outageBackoff, tries, random), stopping)
      }
      obstacles.delete(message)
      return false
    },
    get failure() {
      return obstacles.values().next().value
    },
  }
}

function asItIs(error: unknown): unknown {
  return error
}

/** Undefined when the message is done, else what stood in the way. */
async function handleOnce(
  message: IntakeMessage,
  stopping: AbortSignal,
  options: MessageHandlerOptions,
): Promise<unknown> {
  const reading = readDealCreated(message.value)
  if (reading.kind === 'unreadable') return park(message, reading.reason, options)
  const { deal } = reading
  const outcome = await takeInDeal(deal, correlationOf(message), {
    ...options,
    mayGoOn: () => !stopping.aborted,
  })
  switch (outcome.kind) {
    case 'untouched':
      return outcome.error
    case 'refused':
      return park(message, `DATABASE_REFUSES: ${lastErrorText(outcome.failure)}`, options)
    case 'skipped':
      logIntake(options.log, 'intake deal known', { ...place(message), dealId: deal.dealId })
      return undefined
    default:
      options.tally.add(deal, outcome)
      return undefined
  }
}

async function park(
  message: IntakeMessage,
  reason: string,
  { db, log, onParked }: MessageHandlerOptions,
): Promise<undefined> {
  if (await parkMessage(db, message, reason)) onParked()
  logIntake(log, 'intake message parked', { ...place(message), reason })
}

/** Where crm says what led to the deal, the feed row and the event tell it on. */
function correlationOf({ correlationId }: IntakeMessage): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(correlationId ?? '')
    ? String(correlationId).toLowerCase()
    : uuidv7()
}

function place({
  topic,
  partition,
  offset,
}: IntakeMessage): Pick<IntakeMessage, 'topic' | 'partition' | 'offset'> {
  return { topic, partition, offset }
}
