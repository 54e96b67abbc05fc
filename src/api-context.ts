/** What the API works with, on a pool of its own. */

import type { Config } from './config/config.js'
import type { DurableJobs } from './durable-jobs.js'
import type { ApiContext } from './http/api/context.js'
import { createSummaryLook } from './http/api/summary-look.js'
import { createLogouts } from './http/logouts.js'
import { createSessions } from './http/session.js'
import { createOperatorContext } from './operator-context.js'
import { createDatabase } from './postgres/connect.js'
import type { Logger } from './telemetry/logger.js'

/** Requests beyond wait for one; the job, the relay and the jobs' heartbeats never do. */
const apiConnections = 4

export interface ApiParts {
  readonly context: ApiContext
  readonly close: () => Promise<void>
}

export function createApiParts({
  config,
  jobs,
  log,
  now,
  onEventWritten,
}: {
  readonly config: Config
  readonly jobs: Pick<DurableJobs, 'core' | 'registry'>
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onEventWritten: () => void
}): ApiParts {
  const db = createDatabase({
    connectionString: config.database.url,
    applicationName: 'chat-provision-retry api',
    max: apiConnections,
    onConnectionLost: (error) =>
      log.debug({ event: 'database connection lost', err: error }, 'database connection lost'),
  })
  const { queue, operator: moves, events } = jobs.core
  return {
    context: {
      config,
      db,
      operator: createOperatorContext(db, config, onEventWritten),
      jobs: { queue, moves, events, registry: jobs.registry },
      summary: createSummaryLook({ db, config, now }),
      sessions: createSessions(config.deck),
      logouts: createLogouts(db),
      log,
      now,
    },
    close: () => db.destroy(),
  }
}
