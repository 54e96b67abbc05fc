/** The kinds of jobs that this process knows: one profile for those who enqueue and those who work. */

import { ChokaqError } from '../errors.js'
import { checkPriority, checkQueueName, checkTypeKey } from '../jobs/check-job.js'
import { anyTime, checkBackoff, checkNumbers, someRuns, someTime } from '../jobs/check-options.js'
import type { JobDefinition, JobDefinitionOptions, JobHandler } from './job-definition.js'
import type { PayloadSchema } from './payload-schema.js'

export interface JobRegistry {
  /**
   * @param typeKey semantic and versioned, such as `provision.requeue.v1`: stored jobs are found by
   *   it, so it outlives the code. A payload that changes its shape gets a new version.
   * @throws ChokaqError TYPE_DUPLICATE where the key is taken; TYPE_INVALID, QUEUE_INVALID or
   *   PRIORITY_OUT_OF_RANGE, OPTION_INVALID where a value breaks its limit
   */
  defineJob<Input, Output>(
    typeKey: string,
    schema: PayloadSchema<Input, Output>,
    handler: JobHandler<Output>,
    options?: JobDefinitionOptions,
  ): JobDefinition<Input, Output>

  find(typeKey: string): JobDefinition | undefined

  /** In the order of their definition. */
  definitions(): readonly JobDefinition[]
}

const ranges = { maxAttempts: someRuns, maxAgeMs: anyTime, timeoutMs: someTime }

export function createJobRegistry(): JobRegistry {
  const definitions = new Map<string, JobDefinition>()
  return {
    defineJob(typeKey, schema, handler, options = {}) {
      checkTypeKey(typeKey)
      if (options.queue !== undefined) checkQueueName(options.queue)
      if (options.priority !== undefined) checkPriority(options.priority)
      checkNumbers(options, ranges)
      checkBackoff(options.backoff)
      if (definitions.has(typeKey)) {
        throw new ChokaqError(
          'TYPE_DUPLICATE',
          `The job type ${typeKey} is defined already. Give this one another key, or a new version.`,
        )
      }
      const definition = { typeKey, schema, handler, options }
      // A payload is only ever handed to the handler that came with its schema.
      definitions.set(typeKey, definition as unknown as JobDefinition)
      return definition
    },
    find: (typeKey) => definitions.get(typeKey),
    definitions: () => [...definitions.values()],
  }
}
