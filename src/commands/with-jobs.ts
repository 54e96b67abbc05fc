/** The retry core's tables for the length of a command: no worker runs, and none is needed. */

import {
  ChokaqError,
  createJobOperator,
  createPostgresStorage,
  type JobStorage,
} from '../chokaq/index.js'
import type { Config } from '../config/config.js'
import type { Environment } from '../config/read-options.js'
import { defineDurableJobs } from '../durable-jobs.js'
import { AppError } from '../errors.js'
import type { JobsContext } from '../operations/act-on-jobs.js'
import { withDatabase } from './with-database.js'

export interface JobsAtHand extends JobsContext {
  readonly storage: JobStorage
  readonly config: Config
}

/** @throws AppError of withDatabase, or INPUT_INVALID for what the core refuses */
export function withJobs<T>(
  environment: Environment,
  work: (jobs: JobsAtHand) => Promise<T>,
): Promise<T> {
  return withDatabase(environment, 'checked', async (db, config) => {
    const storage = createPostgresStorage({ db })
    // Workers hear of what is done by their next poll or heartbeat.
    const moves = createJobOperator({
      storage,
      registry: defineDurableJobs(db, config, () => undefined),
      heartbeatMaxMs: config.chokaq.heartbeatMaxMs,
    })
    try {
      return await work({ db, storage, config, moves })
    } catch (error) {
      if (error instanceof ChokaqError)
        throw new AppError('INPUT_INVALID', error.message, { cause: error })
      throw error
    }
  })
}
