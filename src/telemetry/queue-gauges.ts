/** Keeps the queues' lag and dead letters up to date: one look at the storage, shared by all scrapes for 5 seconds. */

import type { JobStorage } from '../chokaq/index.js'
import { createCachedLook } from './cached-look.js'
import type { Logger } from './logger.js'
import type { Metrics } from './metrics.js'

/** As the other gauges: several scrapers share one look, and no scrape waits long for it. */
const freshForMs = 5_000
const limitMs = 3_000

/** Hooks itself into the metrics' rendering; while the database is away the last values stay. */
export function createQueueLook({
  storage,
  metrics,
  log,
  now,
}: {
  readonly storage: Pick<JobStorage, 'listQueues'>
  readonly metrics: Metrics
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly now: () => number
}): void {
  const look = createCachedLook({ look: () => storage.listQueues(), freshForMs, limitMs, now })
  let failing = false
  metrics.beforeRender(async () => {
    const seen = await look()
    if (seen.state === 'seen') {
      metrics.jobs.setQueues(seen.value)
      failing = false
    } else if (!failing) {
      failing = true
      const err = seen.state === 'failed' ? seen.error : undefined
      log.warn({ event: 'queue lag outdated', err }, 'queue lag outdated')
    }
  })
}
