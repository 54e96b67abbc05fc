/** What went wrong with a run, what that means for the breaker, and why a job became a dead letter. */

/** What a run's failure says about the next one. */
export const failureKinds = [
  /** The dependency's or the moment's fault: the same work may succeed later. */
  'transient',
  /** As transient, and the dependency asks for a pause (`retryAfterMs`). */
  'throttled',
  /** The handler did not end within its time. */
  'timeout',
  /** The work itself is at fault; it would fail the same way again. */
  'fatal',
  /** Fatal, and known before the handler began: the payload does not fit the job's schema. */
  'invalid-payload',
  /** Fatal, and known before the handler began: no handler is registered for the type. */
  'unknown-type',
] as const

export type FailureKind = (typeof failureKinds)[number]

/** Why a job is a dead letter: stable words for filters, metrics and bulk actions. */
export const failureReasons = [
  'MaxRetriesExceeded',
  'Cancelled',
  'Zombie',
  /** Too old, while an open circuit kept it from running. */
  'CircuitBreakerOpen',
  'Throttled',
  'FatalError',
  'InvalidPayload',
  'UnknownType',
  'Timeout',
  /** The heartbeat could not be written for so long that the run was ended. */
  'HeartbeatFailure',
  'RetryLifetimeExpired',
] as const

export type FailureReason = (typeof failureReasons)[number]

/** No number of further runs would help: straight to the dead letters. */
export function isFatal(kind: FailureKind): boolean {
  return kind === 'fatal' || kind === 'invalid-payload' || kind === 'unknown-type'
}

/**
 * Whether the failure counts against the type's circuit. A fatal one says nothing about the
 * dependency, and one bad payload must not stop its whole type; a timeout does, like any other
 * trouble of a dependency.
 */
export function countsForBreaker(kind: FailureKind): boolean {
  return !isFatal(kind)
}
