/** One cycle as `serve` runs it: run lock, run record, guards, careful mode's look, logs, metrics. */

import { performance } from 'node:perf_hooks'
import { Writable } from 'node:stream'
import { createRetryJob } from '../../dist/app.js'
import { loadConfig } from '../../dist/config/load-config.js'
import { createLogger } from '../../dist/telemetry/logger.js'
import { createMetrics } from '../../dist/telemetry/metrics.js'

const ignore = () => undefined

/** Makes every line as in production, and writes it nowhere. */
export function unwrittenLog() {
  return createLogger({
    level: 'info',
    destination: new Writable({ write: (_line, _encoding, done) => done() }),
  })
}

/** A job at the given database; other options than the defaults by their names. */
export async function startJob(url, options = {}) {
  const config = loadConfig(
    { DATABASE_URL: url, OUTBOX_RELAY: 'off', ...options },
    { database: true, kafka: false, http: false },
  )
  const job = createRetryJob(config, unwrittenLog(), createMetrics({ relay: 'off' }), ignore)
  await job.prepare(new globalThis.AbortController().signal)
  return job
}

/**
 * Milliseconds of one cycle.
 *
 * @throws where it did not provision just so many rows
 */
export async function timedCycle(job, rows) {
  const start = performance.now()
  const summary = await job.runCycle(new globalThis.AbortController().signal)
  const ms = performance.now() - start
  if (summary.provisioned !== rows) throw new Error(`one cycle did ${JSON.stringify(summary)}`)
  return ms
}
