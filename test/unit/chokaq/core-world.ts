/** A retry core on the in-memory storage, quick and talkative, and what was seen of it. */

import { afterEach, expect } from 'vitest'
import { z } from 'zod'
import type { JobRecord } from '../../../src/chokaq/jobs/job.js'
import type { JobState } from '../../../src/chokaq/kernel/job-state.js'
import type { Middleware } from '../../../src/chokaq/middleware/middleware.js'
import type { CoreEvent, CoreLog, CoreMetrics } from '../../../src/chokaq/ports.js'
import { createJobRegistry } from '../../../src/chokaq/registry/job-registry.js'
import {
  createRetryCore,
  type RetryCore,
  type RetryCoreOptions,
} from '../../../src/chokaq/retry-core.js'
import type { JobStorage } from '../../../src/chokaq/storage/job-storage.js'
import { createMemoryStorage } from '../../../src/chokaq/storage/memory/memory-storage.js'
import type { JobContext } from '../../../src/chokaq/worker/job-context.js'
import { waitFor } from '../../support/wait-for.js'

export const anything = z.unknown()

export interface LogLine extends Record<string, unknown> {
  readonly level: string
  readonly message: string
}

export interface CoreWorld {
  readonly storage: JobStorage
  readonly registry: ReturnType<typeof createJobRegistry>
  readonly core: RetryCore
  readonly lines: readonly LogLine[]
  readonly events: readonly CoreEvent[]
  /** `succeeded default work.v1`, `failed default work.v1 Timeout`, … in the order of their counting. */
  readonly counted: readonly string[]
  /** Lets time pass for what is stored. */
  readonly advance: (ms: number) => void
  /** Waits until the job is in this state. */
  readonly until: (id: string, state: JobState) => Promise<JobRecord>
}

export interface WorldOptions {
  readonly options?: Partial<RetryCoreOptions>
  readonly middleware?: readonly Middleware[]
  /** Stands between the core and its storage. */
  readonly around?: (storage: JobStorage) => JobStorage
  /** Monotonic milliseconds; the machine's own where nothing is said. */
  readonly now?: () => number
}

const graceMs = 2_000
const worlds: RetryCore[] = []

/** Registers the hook that stops all cores, and finds what they left behind. */
export function useCoreWorlds(): (given?: WorldOptions) => CoreWorld {
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map((core) => core.stop(graceMs)))
  })
  return createWorld
}

function createWorld({ options, middleware = [], around, now }: WorldOptions = {}): CoreWorld {
  let passedMs = 0
  const storage = createMemoryStorage({ now: () => Date.now() + passedMs, capacity: 50_000 })
  const registry = createJobRegistry()
  const lines: LogLine[] = []
  const counted: string[] = []
  const log = recordLog(lines)
  const core = createRetryCore(
    {
      owner: 'test-worker',
      pollIntervalMs: 20,
      batchSize: 20,
      concurrency: 10,
      maxAttempts: 3,
      heartbeatMinMs: 10,
      heartbeatMaxMs: 20,
      fetchedTimeoutMs: 60_000,
      zombieTimeoutMs: 60_000,
      archiveMs: 3_600_000,
      backoff: { baseMs: 1, factor: 1, capMs: 1, jitter: 0 },
      abortGraceMs: 300,
      ...options,
    },
    {
      storage: around?.(storage) ?? storage,
      registry,
      middleware,
      log,
      metrics: recordMetrics(counted),
      ...(now && { now }),
    },
  )
  worlds.push(core)
  const events: CoreEvent[] = []
  core.events.subscribe((event) => events.push(event))
  return {
    storage,
    registry,
    core,
    lines,
    events,
    counted,
    advance(ms) {
      passedMs += ms
      core.queue.wake()
    },
    until: (id, state) =>
      waitFor(`job ${id} to be ${state}`, async () => {
        const job = await storage.findJob(id)
        expect(job?.state).toBe(state)
        return job
      }),
  }
}

function recordLog(lines: LogLine[]): CoreLog {
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ ...fields, level, message })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function recordMetrics(counted: string[]): CoreMetrics {
  const add = (...words: string[]): void => void counted.push(words.join(' '))
  return {
    enqueued: ({ queue, type }) => add('enqueued', queue, type),
    succeeded: ({ queue, type }) => add('succeeded', queue, type),
    failed: ({ queue, type }, reason) => add('failed', queue, type, reason),
    retried: ({ queue, type }) => add('retried', queue, type),
    stateConflict: ({ queue, type }, move) => add('conflict', queue, type, move),
  }
}

/** A promise and the way to end it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Starts the worker with one job; resolves when it is at work, which it is until `open`. */
export async function startHeldJob({
  core,
  registry,
  until,
}: Pick<CoreWorld, 'core' | 'registry' | 'until'>): Promise<{ id: string; open: () => void }> {
  const { opened, open } = gate()
  registry.defineJob('a.v1', anything, () => opened)
  const { id } = await core.queue.enqueue('a.v1', {})
  core.start()
  await until(id, 'Processing')
  return { id, open }
}

/** Ends when its signal is aborted, with the signal's reason. */
export const untilAborted = ({ signal }: JobContext): Promise<void> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
