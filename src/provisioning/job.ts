/** The retry job as one thing: its pool, its run lock and its cycle, put together from the options. */

import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import { createDatabase } from '../postgres/connect.js'
import { probeDatabase } from '../postgres/probe.js'
import type { Database } from '../postgres/schema.js'
import {
  lockKeys,
  refuseSharedBackend,
  tryAcquireSessionLock,
  type BusyLock,
  type HeldLock,
} from '../postgres/session-lock.js'
import { explainUnavailable, type DatabaseOption } from '../postgres/unavailable.js'
import { checkRowWork } from '../postgres/work-check.js'
import type { ProvisioningMetrics } from '../telemetry/metric-ports.js'
import { unlessAborted } from '../timers.js'
import { createAttemptReturns } from './attempt-returns.js'
import { runCycle, type CycleSummary } from './cycle.js'
import type { MessengerChats } from './messenger-chats.js'
import { createProvisionContext } from './provision-context.js'
import { createRunLedger } from './run-ledger.js'

export interface JobOptions {
  readonly config: Pick<Config, 'database' | 'retry' | 'outbox'>
  readonly chats: MessengerChats
  readonly log: Logger
  readonly metrics: ProvisioningMetrics
  /** Called after each commit that wrote an event, so that the relay needn't wait for its poll. */
  readonly onEventWritten: () => void
}

export interface Job {
  /**
   * Is the database there, can a row be worked in it, and is the lock's connection a session of its own?
   * No longer asked, and nothing said of it, once `stopping` aborts: then no cycle begins either.
   *
   * @throws AppError of checkRowWork, POOLER_DETECTED, or DATABASE_UNAVAILABLE
   */
  prepare(stopping: AbortSignal): Promise<void>
  runCycle(stopping: AbortSignal): Promise<CycleSummary>
  /** Closes the pool; the last thing to do. */
  close(): Promise<void>
}

const applicationName = 'chat-provision-retry'
const lockName = `${applicationName} run lock`

/** Reads of the next batch and the run's record go beside the rows that are under way. */
const connectionsBesideLanes = 1

export function createJob(options: JobOptions): Job {
  const { config, chats, log, metrics, onEventWritten } = options
  const db: Kysely<Database> = createDatabase({
    connectionString: config.database.url,
    applicationName,
    max: config.retry.concurrency + connectionsBesideLanes,
    rowWork: true,
    onConnectionLost: (error) =>
      log.debug({ event: 'database connection lost', err: error }, 'database connection lost'),
  })
  const explained = async <T>(option: DatabaseOption, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw explainUnavailable(error, config.database, option)
    }
  }
  const acquireLock = (stopping: AbortSignal): Promise<HeldLock | BusyLock> =>
    tryAcquireSessionLock(
      {
        connectionString: config.database.lockUrl,
        lock: lockKeys.run,
        ttlMs: config.retry.lockTtlMs,
        applicationName: lockName,
      },
      stopping,
    )
  const dependencies = {
    db,
    returns: createAttemptReturns(db),
    acquireLock: (stopping) => explained('LOCK_DATABASE_URL', acquireLock(stopping)),
    probe: () => probeDatabase(config.database.url, `${applicationName} probe`),
    ledger: createRunLedger(db, `${hostname()}:${process.pid}`),
    retry: config.retry,
    topic: config.outbox.topic,
    provisioning: createProvisionContext(chats, config.retry.participantRoles),
    log,
    metrics,
    random: Math.random,
    now: () => performance.now(),
    onEventWritten,
  } satisfies Parameters<typeof runCycle>[0]

  let lockConnectionChecked = false
  const prepare = async (stopping: AbortSignal): Promise<void> => {
    await checkRowWork(db)
    if (lockConnectionChecked) return
    const refusal = refuseSharedBackend(config.database.lockUrl, lockName, stopping)
    await explained('LOCK_DATABASE_URL', refusal)
    lockConnectionChecked = true
  }
  return {
    prepare: (stopping) => unlessAborted(explained('DATABASE_URL', prepare(stopping)), stopping),
    runCycle: (stopping) => explained('DATABASE_URL', runCycle(dependencies, stopping)),
    close: () => db.destroy(),
  }
}
