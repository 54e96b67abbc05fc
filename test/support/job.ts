/** The retry job as production puts it together, on a test's database, with its log kept. */

import { sql } from 'kysely'
import { afterEach } from 'vitest'
import { createJob, type Job } from '../../src/provisioning/job.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import type { MessengerChats } from '../../src/provisioning/messenger-chats.js'
import type { RetryOptions } from '../../src/config/config.js'
import { createLogger } from '../../src/telemetry/logger.js'
import type { ProvisioningMetrics } from '../../src/telemetry/metric-ports.js'
import type { TestDatabase } from './test-database.js'

export const testRetryOptions: RetryOptions = {
  pollingIntervalMs: 60_000,
  batchSize: 100,
  maxAttempts: 10,
  stuckProvisioningAfterMs: 300_000,
  backoff: { baseMs: 60_000, factor: 2, capMs: 900_000, jitter: 0.2 },
  lockTtlMs: 300_000,
  maxRunDurationMs: 180_000,
  concurrency: 4,
  participantRoles: ['Owner', 'Member', 'Observer'],
  runsRetentionMs: 30 * 86_400_000,
}

export const testTopic = 'pin.messenger.deal-chat-status-changed.v1'

export interface TestJob extends Job {
  /** The log so far, one parsed line each. */
  readonly lines: Record<string, unknown>[]
  readonly counted: { retried: number; succeeded: number; poison: number; cycles: number }
  /** Runs one cycle that nobody stops. */
  cycle(): ReturnType<Job['runCycle']>
}

interface TestJobOptions {
  readonly url: string
  readonly lockUrl?: string
  readonly retry?: Partial<RetryOptions>
  readonly chats?: MessengerChats
}

function createTestJob(options: TestJobOptions): TestJob {
  const lines: Record<string, unknown>[] = []
  const counted = { retried: 0, succeeded: 0, poison: 0, cycles: 0 }
  const metrics: ProvisioningMetrics = {
    retried: () => (counted.retried += 1),
    succeeded: () => (counted.succeeded += 1),
    poison: () => (counted.poison += 1),
    cycleCompleted: () => (counted.cycles += 1),
  }
  const job = createJob({
    config: {
      database: { url: options.url, lockUrl: options.lockUrl ?? options.url },
      retry: { ...testRetryOptions, ...options.retry },
      outbox: {
        relay: 'off',
        topic: testTopic,
        pollIntervalMs: 1_000,
        batchSize: 500,
        maxAttempts: 10,
        sendTimeoutMs: 15_000,
        retentionMs: 7 * 86_400_000,
      },
    },
    chats: options.chats ?? referenceChats,
    log: createLogger({
      level: 'debug',
      destination: {
        write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
      },
    }),
    metrics,
    onEventWritten: () => undefined,
  })
  return { ...job, lines, counted, cycle: () => job.runCycle(new AbortController().signal) }
}

/**
 * Registers the hooks that close a test's jobs and empty the tables after it; call it at the file's
 * top level. The returned function makes a job on the file's database.
 */
export function useTestJobs(
  database: () => TestDatabase,
): (options?: Partial<TestJobOptions>) => TestJob {
  const jobs: Job[] = []
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.close()))
    await sql`
      truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
        messenger.outbox_events, messenger.chat_provision_runs, messenger.chats,
        messenger.participants, messenger.chat_events
    `.execute(database().admin)
  })
  return (options) => {
    const job = createTestJob({ url: database().url, ...options })
    jobs.push(job)
    return job
  }
}
