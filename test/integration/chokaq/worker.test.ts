/** The worker on PostgreSQL: what needs a real database, its transactions and its failures. */

import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createJobRegistry,
  createPostgresStorage,
  createRetryCore,
  type CallersTransaction,
  type JobState,
  type RetryCore,
  type RetryCoreOptions,
} from '../../../src/chokaq/index.js'
import { createDatabase } from '../../../src/postgres/connect.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { anything } from '../../unit/chokaq/core-world.js'

const database = useTestDatabase()
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

interface Instance {
  readonly core: RetryCore<CallersTransaction>
  readonly registry: ReturnType<typeof createJobRegistry>
}

/** With the worker's rights, on a pool of its own. */
function createInstance(options: Partial<RetryCoreOptions> = {}): Instance {
  const db = createDatabase({
    connectionString: database().url,
    applicationName: 'jobs under test',
    max: 3,
    onConnectionLost: () => undefined,
  })
  const registry = createJobRegistry()
  const ignore = (): void => undefined
  const core = createRetryCore(
    {
      owner: `test-${ends.length}`,
      pollIntervalMs: 50,
      batchSize: 20,
      concurrency: 10,
      maxAttempts: 3,
      heartbeatMinMs: 50,
      heartbeatMaxMs: 100,
      fetchedTimeoutMs: 60_000,
      zombieTimeoutMs: 60_000,
      archiveMs: 3_600_000,
      ...options,
    },
    {
      storage: createPostgresStorage({ db }),
      registry,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    },
  )
  ends.push(async () => {
    await core.stop(2_000)
    await db.destroy()
  })
  return { core, registry }
}

const storage = () => createPostgresStorage({ db: database().admin })

function until(id: string, state: JobState) {
  return waitFor(`job ${id} to be ${state}`, async () => {
    const job = await storage().findJob(id)
    expect(job?.state).toBe(state)
    return job
  })
}

describe('the worker on PostgreSQL', () => {
  it("C1: a queue full at MaxWorkers with 500 jobs of high priority doesn't keep another's waiting", async () => {
    const queueSettings = [{ name: 'full', settings: { maxWorkers: 2 } }]
    const { core, registry } = createInstance({ queueSettings })
    const full = registry.defineJob('full.v1', anything, ({ signal }) => untilAborted(signal))
    const other = registry.defineJob('other.v1', anything, () => undefined)
    const options = { queue: 'full', priority: 100 }
    core.start()
    await waitFor('the queue to be seeded', async () =>
      (await storage().listQueues()).some(({ settings }) => settings.maxWorkers === 2),
    )
    await core.queue.enqueueMany(
      Array.from({ length: 500 }, (_, payload) => ({ job: full, payload, options })),
    )
    const status = async () => {
      const queues = await storage().listQueues()
      return queues.find(({ name }) => name === 'full')
    }
    await waitFor('the queue to be full', async () => (await status())?.processing === 2)
    const { id } = await core.queue.enqueue(other, {}, { priority: 0 })
    await until(id, 'Succeeded')
    expect(await status()).toMatchObject({ processing: 2, fetched: 0 })
  })

  it("a job enqueued in the caller's transaction exists when that commits, and not otherwise", async () => {
    const { core, registry } = createInstance({ pollIntervalMs: 3_600_000 })
    const job = registry.defineJob('a.v1', anything, () => undefined)
    core.start()
    const enqueue = (fails: boolean) =>
      database()
        .admin.transaction()
        .execute(async (trx) => {
          const { id } = await core.queue.enqueue(job, {}, {}, trx)
          expect(await storage().findJob(id)).toBeUndefined()
          if (fails) throw Object.assign(new Error('the caller fails'), { id })
          return id
        })
    const lost = await enqueue(true).catch((error: unknown) => (error as { id: string }).id)
    expect(await storage().findJob(lost)).toBeUndefined()
    const id = await enqueue(false)
    core.queue.wake()
    await until(id, 'Succeeded')
  })

  it('a checkpoint given with a transaction is as lasting as that', async () => {
    const { core, registry } = createInstance({
      backoff: { baseMs: 1, factor: 1, capMs: 1, jitter: 0 },
    })
    const found: unknown[] = []
    registry.defineJob('a.v1', anything, async (job) => {
      found.push(job.checkpoint)
      if (found.length === 3) return
      await database()
        .admin.transaction()
        .execute(async (trx) => {
          await job.saveCheckpoint({ run: job.attempt }, trx)
          if (job.attempt === 2) throw new Error('rolled back')
        })
      throw new Error('after the commit')
    })
    core.start()
    const { id } = await core.queue.enqueue('a.v1', {})
    await until(id, 'Succeeded')
    expect(found).toEqual([undefined, { run: 1 }, { run: 1 }])
  })

  it('O2: all its sessions ended by the server, again and again: it goes on, each job ends once', async () => {
    const { core, registry } = createInstance({ concurrency: 20, fetchedTimeoutMs: 3_600_000 })
    const runs = new Map<string, number>()
    const job = registry.defineJob('a.v1', anything, async ({ id }) => {
      runs.set(id, (runs.get(id) ?? 0) + 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    })
    const items = Array.from({ length: 400 }, (_, payload) => ({ job, payload }))
    const answers = await core.queue.enqueueMany(items)
    core.start()
    const archived = async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from chokaq.jobs_archive where type = 'a.v1' and id = any(${answers.map(({ id }) => id)})
      `.execute(database().admin)
      return rows[0]?.n
    }
    for (let n = 0; n < 10; n += 1) {
      const before = runs.size
      await waitFor('some to be at work', () => runs.size > before || runs.size === answers.length)
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'jobs under test'
      `.execute(database().admin)
    }
    await waitFor('all to be done', async () => (await archived()) === answers.length)
    expect([...runs.values()].filter((n) => n !== 1)).toEqual([])
    expect(runs.size).toBe(answers.length)
  })
})

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
