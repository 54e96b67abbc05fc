/** Why a run is asked to end before its time. */

/**
 * shutdown: the process stops, the job will be run again. timeout: its time is up. admin: an operator
 * wants it ended. heartbeat: the job is no longer this worker's, or may not be.
 */
export type AbortReason = 'shutdown' | 'timeout' | 'admin' | 'heartbeat'

const texts = {
  shutdown: 'the worker is shutting down',
  timeout: 'the time for this run is up',
  admin: 'an operator has cancelled this job',
  heartbeat: 'this worker may no longer hold the job',
} as const satisfies Record<AbortReason, string>

/** The reason of a job's AbortSignal; what `signal.throwIfAborted()` throws. */
export class JobAbortedError extends Error {
  readonly reason: AbortReason

  constructor(reason: AbortReason) {
    super(texts[reason])
    // The name that callers of fetch and streams look for.
    this.name = 'AbortError'
    this.reason = reason
  }
}
