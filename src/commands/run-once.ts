/** `run-once`: one cycle, then publish what is in the outbox, then say what was done. */

import { createRetryJob, relayParts, type RelayParts } from '../app.js'
import type { Config } from '../config/config.js'
import type { Environment } from '../config/read-options.js'
import { AppError } from '../errors.js'
import { drainOutbox } from '../outbox/drain-outbox.js'
import { explainUnavailable } from '../postgres/unavailable.js'
import type { CycleSummary } from '../provisioning/cycle.js'
import { createMetrics } from '../telemetry/metrics.js'
import { printFields, printJson } from './output.js'
import { untilSignalled } from './until-signalled.js'
import { startUp } from './start-up.js'

/** 0 for completed, skipped and stopped; 1 for aborted, or where the broker couldn't be reached. */
export async function runOnce(environment: Environment, options: { json?: true }): Promise<0 | 1> {
  const { config, log } = startUp(environment, { database: true, kafka: true, http: false })
  const metrics = createMetrics({ relay: config.outbox.relay })
  const relay = relayParts(config, log, metrics)
  const job = createRetryJob(config, log, metrics, () => undefined)
  const signal = untilSignalled()
  signal.addEventListener('abort', () => {
    log.info({ event: 'run stopping' }, 'run stopping after the rows under way')
  })
  const graceTimer = endWithinGrace(signal, config.shutdownGraceMs)
  try {
    await job.prepare(signal)
    const cycle = await job.runCycle(signal)
    const { published, failure } = await publish(config, relay, signal)
    const summary = toSummary(cycle, published)
    if (failure !== undefined) process.stderr.write(`error: ${failure.message}\n`)
    await (options.json ? printJson(summary) : printFields(summary))
    return cycle.outcome === 'aborted' || failure !== undefined ? 1 : 0
  } finally {
    await relay?.dependencies.publisher.close()
    await job.close()
    graceTimer.clear()
  }
}

async function publish(
  config: Config,
  relay: RelayParts | undefined,
  stopping: AbortSignal,
): Promise<{ published: number; failure: AppError | undefined }> {
  // Once stopped nothing new is begun; the events wait in the outbox.
  if (relay === undefined || stopping.aborted) return { published: 0, failure: undefined }
  const graceOver = AbortSignal.timeout(config.shutdownGraceMs)
  try {
    const ending = AbortSignal.any([stopping, graceOver])
    return await drainOutbox(relay.options, relay.dependencies, ending)
  } catch (error) {
    // The cycle's work stands, and its summary is still to be told.
    const failure = explainUnavailable(error, config.database, 'LOCK_DATABASE_URL')
    if (failure instanceof AppError) return { published: 0, failure }
    throw error
  }
}

/** Of the grace period, so that the end comes within it. */
const graceShare = 0.9

/**
 * A server that no longer answers is not waited for beyond the grace period: once the process has ended,
 * it finishes a row that is one statement, and rolls back every other whole.
 */
function endWithinGrace(stopping: AbortSignal, graceMs: number): { clear(): void } {
  let timer: NodeJS.Timeout | undefined
  stopping.addEventListener('abort', () => {
    timer = setTimeout(() => {
      process.stderr.write(
        'stopped: the server gave no answer; it ends each row under way, whole or not at all\n',
      )
      process.exit(0)
    }, graceMs * graceShare)
    timer.unref()
  })
  return { clear: () => clearTimeout(timer) }
}

function toSummary(cycle: CycleSummary, published: number) {
  const { jobRunId, asOf, outcome, reason, durationMs } = cycle
  const { claimed, provisioned, retried, failed, skipped } = cycle
  const counts = { claimed, provisioned, retried, failed, skipped, published }
  return { jobRunId, asOf, outcome, reason, ...counts, durationMs }
}
