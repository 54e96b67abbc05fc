/** Our retry core as serve composes it, for the benches. */

import {
  createJobRegistry,
  createPostgresStorage,
  createRetryCore,
} from '../../dist/chokaq/index.js'
import { createDatabase } from '../../dist/postgres/connect.js'
import { createMetrics } from '../../dist/telemetry/metrics.js'

const ignore = () => undefined
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const anything = {
  '~standard': { version: 1, vendor: 'bench', validate: (value) => ({ value }) },
}

/** The defaults of the CHOKAQ_* options. */
const defaults = {
  ...{ pollIntervalMs: 1_000, batchSize: 20, concurrency: 10, maxAttempts: 3 },
  ...{ heartbeatMinMs: 8_000, heartbeatMaxMs: 12_000 },
  ...{ fetchedTimeoutMs: 600_000, zombieTimeoutMs: 600_000, archiveMs: 604_800_000 },
}

/** @returns the core, not started, and how to end it and its pool */
export function createBenchCore(url, handler, options = {}) {
  const db = createDatabase({
    connectionString: url,
    applicationName: 'bench jobs',
    max: 3,
    rowWork: true,
    onConnectionLost: ignore,
  })
  const registry = createJobRegistry()
  registry.defineJob('noop.v1', anything, handler)
  const core = createRetryCore(
    { ...defaults, owner: `bench-${Math.random()}`, ...options },
    { storage: createPostgresStorage({ db }), registry, log, metrics: createMetrics().jobs },
  )
  const end = async () => {
    await core.stop(10_000)
    await db.destroy()
  }
  return { core, end }
}
