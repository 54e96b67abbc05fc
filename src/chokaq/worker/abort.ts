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

/**
 * The wish to end one run before its time. The handler's AbortSignal is made when it is asked for: most
 * handlers never look, and a signal costs more than all else that a short run takes.
 */
export class RunAbort {
  #error: JobAbortedError | undefined
  #controller: AbortController | undefined
  #listener: ((reason: AbortReason) => void) | undefined

  /** Undefined while nobody wants the run to end. */
  get error(): JobAbortedError | undefined {
    return this.#error
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#error !== undefined) this.#controller.abort(this.#error)
    }
    return this.#controller.signal
  }

  /** The first reason stays. */
  abort(reason: AbortReason): void {
    if (this.#error !== undefined) return
    this.#error = new JobAbortedError(reason)
    this.#controller?.abort(this.#error)
    this.#listener?.(reason)
  }

  /** For whoever waits for the run; one listener, called at most once and at once where it is aborted. */
  listen(listener: (reason: AbortReason) => void): void {
    this.#listener = listener
    if (this.#error !== undefined) listener(this.#error.reason)
  }
}
