/** The retry core's tables for the length of a command: no worker runs, and none is needed. */

import { ChokaqError, createPostgresStorage, type JobStorage } from '../chokaq/index.js'
import type { Config } from '../config/config.js'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import type { JobMoves, JobsContext } from '../operations/act-on-jobs.js'
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
    try {
      return await work({ db, storage, config, moves: movesOf(storage) })
    } catch (error) {
      if (error instanceof ChokaqError)
        throw new AppError('INPUT_INVALID', error.message, { cause: error })
      throw error
    }
  })
}

/** Workers hear of it at their next poll or heartbeat. */
function movesOf(storage: JobStorage): JobMoves {
  return {
    cancel: async (id, request) => only(await storage.cancel([id], request)),
    resurrect: async (id, request) => only(await storage.resurrect([id], request)),
    setPriority: async (id, request) => only(await storage.setPriority([id], request)),
    changeQueue: (name, changes, request) => storage.changeQueue(name, changes, request),
  }
}

function only<T>(results: readonly T[]): T {
  const [result] = results
  if (result === undefined) throw new Error('the storage gave no answer for a job')
  return result
}
