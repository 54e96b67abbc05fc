/**
 * The composition root: puts the rooms together from the options. Started in the order in which
 * they are listed here, stopped the other way round, so that the pools close last.
 */

import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import { createApiParts } from './api-context.js'
import type { Config } from './config/config.js'
import type { AppError } from './errors.js'
import { createDurableJobs } from './durable-jobs.js'
import { readinessChecks, watchedLoops } from './health.js'
import type { ApiLimits } from './http/api/api.js'
import { createHttpServer } from './http/server.js'
import { createIntake } from './intake/intake.js'
import {
  confirmedRetentionIntervalMs,
  createConfirmedRetention,
} from './outbox/confirmed-retention.js'
import { KafkaPublisher } from './outbox/kafka-publisher.js'
import type { ClosablePublisher } from './outbox/publisher.js'
import type { RelayDependencies, RelayOptions } from './outbox/relay-options.js'
import { OutboxRelay } from './outbox/relay.js'
import { StdoutPublisher } from './outbox/stdout-publisher.js'
import { PeriodicTask } from './periodic-task.js'
import { createDatabase } from './postgres/connect.js'
import type { Database } from './postgres/schema.js'
import { CycleLoop } from './provisioning/cycle-loop.js'
import { createJob, type Job } from './provisioning/job.js'
import { referenceChats } from './provisioning/reference-chats.js'
import { createTableGate } from './table-gate.js'
import { createDatabaseLook } from './telemetry/database-gauges.js'
import type { Logger } from './telemetry/logger.js'
import { createMetrics, type Metrics } from './telemetry/metrics.js'
import { within } from './timers.js'

const applicationName = 'chat-provision-retry'

/** Looks at the database for people and probes go beside the job, which may use all of its pool. */
const observerConnections = 2

/**
 * Of the grace period: rows and sends under way get the first part to end by themselves; then
 * connections are closed, and PostgreSQL rolls back whole what has not committed by then.
 */
const share = { loops: 0.75, jobs: 0.65, closing: 0.1 }

/** Monotonic milliseconds. */
const now = (): number => performance.now()

export interface App {
  /** Resolves when the HTTP server listens; the loops wait for database and broker by themselves. */
  start(): Promise<void>
  /** Ends in good order, within the grace period; bears being called twice. */
  stop(): Promise<void>
}

export interface AppOptions {
  readonly config: Config
  readonly log: Logger
  /** Called when the service can't go on and waiting would not help. */
  readonly onFatal: (error: AppError) => void
  /** Of the API, other than the usual ones. */
  readonly apiLimits?: ApiLimits
}

export function createApp({ config, log, onFatal, apiLimits }: AppOptions): App {
  const metrics = createMetrics({ relay: config.outbox.relay, ofProcess: true })
  metrics.setPollingInterval(config.retry.pollingIntervalMs / 1000)
  const observer = createObserver(config, log)
  const parts = relayParts(config, log, metrics)
  const relay = parts && new OutboxRelay(parts.options, parts.dependencies)
  const job = createRetryJob(config, log, metrics, () => relay?.wake())
  const cycles = new CycleLoop({
    pollingIntervalMs: config.retry.pollingIntervalMs,
    prepare: (stopping) => job.prepare(stopping),
    runCycle: (stopping) => job.runCycle(stopping),
    onFatal,
    log,
    now,
  })
  const intake = config.intake.enabled
    ? createIntake({
        config,
        chats: referenceChats,
        log,
        metrics,
        onEventWritten: () => relay?.wake(),
      })
    : undefined
  const jobs = createDurableJobs({ config, log, metrics, onEventWritten: () => relay?.wake() })
  const api = createApiParts({ config, jobs, log, now, onEventWritten: () => relay?.wake() })
  const eventPruning = eventPruningWithoutRelay(config, observer, log)
  createDatabaseLook({
    db: observer,
    retry: config.retry,
    outbox: config.outbox,
    metrics,
    log,
    now,
  })
  const gate = createTableGate({
    db: observer,
    now,
    onOpen() {
      relay?.start()
      jobs.start()
      eventPruning?.start()
      intake?.start()
    },
  })
  const http = createHttpServer({
    config: config.http,
    loops: watchedLoops({ config, gate, cycles, relay, intake, jobs: jobs.core.loops, now }),
    checks: readinessChecks({ config, observer, relay, intake }),
    metrics,
    api: api.context,
    limits: apiLimits,
    log,
    now,
  })

  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    log.info({ event: 'service stopping', host: hostname() }, 'service stopping')
    const loopsEnded = (async () => {
      await gate.stop()
      await Promise.all([
        eventPruning?.stop(),
        cycles.stop(),
        intake?.stop(),
        jobs.stop(config.shutdownGraceMs * share.jobs),
      ])
      await relay?.stop()
    })()
    await within(loopsEnded, config.shutdownGraceMs * share.loops)
    const doorsClosed = Promise.all([http.stop(), parts?.dependencies.publisher.close()])
    await within(doorsClosed, config.shutdownGraceMs * share.closing)
    const poolsClosed = Promise.all([
      job.close(),
      intake?.close(),
      jobs.close(),
      api.close(),
      observer.destroy(),
    ])
    await within(poolsClosed, config.shutdownGraceMs * share.closing)
    log.info({ event: 'service stopped' }, 'service stopped')
  }

  return {
    async start() {
      await http.start()
      cycles.start()
      gate.start()
    },
    stop: () => (stopped ??= stop()),
  }
}

/** The retry job on the reference layout of the messenger's tables. */
export function createRetryJob(
  config: Config,
  log: Logger,
  metrics: Metrics,
  onEventWritten: () => void,
): Job {
  return createJob({
    config,
    chats: referenceChats,
    log,
    metrics: metrics.provisioning,
    onEventWritten,
  })
}

export interface RelayParts {
  readonly options: RelayOptions
  readonly dependencies: RelayDependencies & { readonly publisher: ClosablePublisher }
}

/** What a relay is made of, as OUTBOX_RELAY asks for it; undefined where Debezium relays. */
export function relayParts(config: Config, log: Logger, metrics: Metrics): RelayParts | undefined {
  if (config.outbox.relay === 'off') return undefined
  const publisher =
    config.outbox.relay === 'stdout'
      ? new StdoutPublisher(process.stdout)
      : new KafkaPublisher({ kafka: config.kafka, sendTimeoutMs: config.outbox.sendTimeoutMs, log })
  return {
    options: {
      ...config.outbox,
      connectionString: config.database.lockUrl,
      applicationName: `${applicationName} relay`,
    },
    dependencies: { publisher, metrics: metrics.relay, log, random: Math.random, now },
  }
}

/** A relay of this service prunes what it has published; where Debezium relays, this does. */
function eventPruningWithoutRelay(
  config: Config,
  observer: Kysely<Database>,
  log: Logger,
): PeriodicTask | undefined {
  if (config.outbox.relay !== 'off') return undefined
  return new PeriodicTask({
    name: 'prune events',
    intervalMs: confirmedRetentionIntervalMs,
    run: createConfirmedRetention({ db: observer, retentionMs: config.outbox.retentionMs, log }),
    log,
  })
}

function createObserver(config: Config, log: Logger): Kysely<Database> {
  return createDatabase({
    connectionString: config.database.url,
    applicationName: `${applicationName} observer`,
    max: observerConnections,
    onConnectionLost: (error) =>
      log.debug({ event: 'database connection lost', err: error }, 'database connection lost'),
  })
}
