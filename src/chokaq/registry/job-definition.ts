/** What a kind of job is: its key, the shape of its payload, its handler, and how it is to be run. */

import type { BackoffPolicy } from '../kernel/backoff.js'
import type { FailureKind } from '../kernel/failure.js'
import type { JobContext } from '../worker/job-context.js'
import type { PayloadSchema } from './payload-schema.js'

/**
 * Returning means done, whatever the signal says; a handler that stops early because of the signal
 * throws (`signal.throwIfAborted()`).
 */
export type JobHandler<T> = (context: JobContext<T>) => Promise<void> | void

/** What is absent falls to the worker's values. */
export interface JobDefinitionOptions {
  /** Where it is enqueued unless the call names another; `default` where nothing is said. */
  readonly queue?: string | undefined
  /** 0 to 100, higher first; unless the call names another. */
  readonly priority?: number | undefined
  /** Runs at most, ≥ 1. */
  readonly maxAttempts?: number | undefined
  /** Milliseconds since it was first due after which no further run begins. */
  readonly maxAgeMs?: number | undefined
  /** Milliseconds of one run; the queue's own limit comes first. */
  readonly timeoutMs?: number | undefined
  readonly backoff?: BackoffPolicy | undefined
  /**
   * What an error of the handler means, where the handler's library has errors of its own; undefined
   * leaves it to `classifyError`.
   */
  readonly classify?: ((error: unknown) => FailureKind | undefined) | undefined
}

export interface JobDefinition<Input = unknown, Output = unknown> {
  readonly typeKey: string
  readonly schema: PayloadSchema<Input, Output>
  readonly handler: JobHandler<Output>
  readonly options: JobDefinitionOptions
}
