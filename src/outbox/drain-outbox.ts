/** Publishes what is due and ends: the relay for a command that runs once. */

import { AppError } from '../errors.js'
import { logOutbox } from './outbox-log.js'
import { publishDueEvents } from './publish-pass.js'
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
  const turn = await takeTurn(options, signal)
  if (!('db' in turn)) {
    logOutbox(dependencies.log, 'outbox relay standby', { holder: turn.holder })
    return { published: 0, failure: undefined }
  }
  const transport = createTransportState(dependencies)
  const context = { ...options, ...dependencies, transport, db: turn.db, signal: turn.signal }
  let published = 0
  try {
    for (;;) {
      const pass = await publishDueEvents(context)
      published += pass.published
      const failure = transport.failureFor(options.topic)
      if (failure !== undefined) return { published, failure: brokerUnavailable(failure) }
      if (pass.selected === 0) {
        // Events of another topic, as a former OUTBOX_TOPIC, may be left: all but they are out.
        const { failure: reason } = transport
        return { published, failure: reason === undefined ? undefined : brokerUnavailable(reason) }
      }
      if (turn.signal.aborted) return { published, failure: brokerUnavailable('out of time') }
    }
  } finally {
    await turn.release()
  }
}

function brokerUnavailable(reason: string): AppError {
  return new AppError(
    'BROKER_UNAVAILABLE',
    `Not all events could be published (${reason}). They wait in the outbox; \`serve\` or the next ` +
      'run publishes them once Kafka is there.',
  )
}
