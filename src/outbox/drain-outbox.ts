/** Publishes what is due and ends: the relay for a command that runs once. */

import { AppError } from '../errors.js'
import { logOutbox } from './outbox-log.js'
import { createPublishPasses } from './publish-passes.js'
import { takeTurn } from './relay-lock.js'
import type { RelayDependencies, RelayOptions } from './relay-options.js'
import { createTransportState } from './transport-state.js'

export interface DrainResult {
  /** Events published by this call. */
  readonly published: number
  /** BROKER_UNAVAILABLE: events are left that wait for Kafka, or the time was up. */
  readonly failure: AppError | undefined
}

/**
 * Publishes until nothing is due, the broker can't be reached, or `signal` says that the time is up.
 * Where another relay holds the lock the events are its work, and nothing is published here.
 *
 * @throws what the database throws.
 */
export async function drainOutbox(
  options: RelayOptions,
  dependencies: RelayDependencies,
  signal: AbortSignal,
): Promise<DrainResult> {
  const turn = await takeTurn(options, signal, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })
  if (turn === undefined) return { published: 0, failure: brokerUnavailable(outOfTime) }
  if (!('db' in turn)) {
    logOutbox(dependencies.log, 'outbox relay standby', { holder: turn.holder })
    return { published: 0, failure: undefined }
  }
  const transport = createTransportState(dependencies)
  const { db, signal: over } = turn
  const context = { ...options, ...dependencies, transport, db, signal: over }
  const passes = createPublishPasses(context)
  const endWith = async (reason: string | undefined): Promise<DrainResult> => {
    await passes.settled()
    const failure = reason === undefined ? undefined : brokerUnavailable(reason)
    return { published: passes.published, failure }
  }
  try {
    for (;;) {
      const selected = await passes.next()
      const failure = transport.failureFor(options.topic)
      if (failure !== undefined) return await endWith(failure)
      // Events of another topic, as a former OUTBOX_TOPIC, may be left: all but they are out.
      if (selected === 0) return await endWith(transport.failure)
      if (over.aborted) return await endWith(outOfTime)
    }
  } finally {
    await turn.release()
  }
}

const outOfTime = 'out of time'

/** A broker away, a topic missing, a reader gone: the reason says which, and the next step is the same. */
function brokerUnavailable(reason: string): AppError {
  return unpublished(
    reason,
    'once the cause is mended (`doctor` says how), `serve` or the next run',
  )
}

function unpublished(reason: string, who: string): AppError {
  return new AppError(
    'BROKER_UNAVAILABLE',
    `Not all events could be published (${reason}). They wait in the outbox; ${who} publishes them.`,
  )
}
