/**
 * PostgreSQL killed under the core: a claim that was not on disk was never made, a started job stays its
 * worker's, an outcome is written once. So each job runs once, at its first attempt.
 */

import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createJobRegistry,
  createPostgresStorage,
  createRetryCore,
} from '../../../src/chokaq/index.js'
import { createDatabase } from '../../../src/postgres/connect.js'
import { migrateUp } from '../../../src/postgres/migrator.js'
import { startTestPostgres, type TestPostgres } from '../../support/servers.js'
import { waitFor } from '../../support/wait-for.js'
import { anything } from '../../unit/chokaq/core-world.js'

let postgres: TestPostgres
let db: ReturnType<typeof createDatabase>

beforeAll(async () => {
  postgres = await startTestPostgres()
  const connect = (rowWork: boolean) =>
    createDatabase({
      connectionString: postgres.url,
      applicationName: 'jobs through crashes',
      max: 4,
      rowWork,
      onConnectionLost: () => undefined,
    })
  const owner = connect(false)
  await migrateUp(owner, ['service'])
  await owner.destroy()
  db = connect(true)
})
afterAll(async () => {
  await db.destroy()
  await postgres.stop()
})

it.each([
  // Claims that start, as runs are shorter than a round trip.
  ['quick', 0, 6_000],
  // Claims and starts apart.
  ['slow', 60, 600],
])(
  'each of many %s jobs runs once',
  async (type, ms, count) => {
    const jobs = Array.from({ length: count }, () => ({ type, queue: type, payload: '{}' }))
    const storage = createPostgresStorage({ db })
    await storage.enqueue(jobs)
    const modes = new Set<boolean>()
    const registry = createJobRegistry()
    const runs = new Map<string, number[]>()
    registry.defineJob(type, anything, async ({ id, attempt }) => {
      runs.set(id, [...(runs.get(id) ?? []), attempt])
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
    })
    const ignore = (): void => undefined
    const core = createRetryCore(
      {
        ...{ owner: `survivor of ${type}`, pollIntervalMs: 50, batchSize: 50, concurrency: 10 },
        ...{ maxAttempts: 3, heartbeatMinMs: 100, heartbeatMaxMs: 200, archiveMs: 3_600_000 },
        // Nobody is taken for dead, however long the server takes to come back.
        ...{ fetchedTimeoutMs: 600_000, zombieTimeoutMs: 600_000 },
      },
      {
        storage: {
          ...storage,
          fetch(request) {
            modes.add(request.start === true)
            return storage.fetch(request)
          },
        },
        registry,
        log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      },
    )
    core.start()
    try {
      for (const share of [0.1, 0.4, 0.7]) {
        await waitFor(`${share} of them to have run`, () => runs.size >= share * count)
        await postgres.kill()
        await postgres.start()
      }
      await waitFor('the last one to be stored', async () => {
        const totals = await storage.totals()
        return totals.some(({ queue, succeeded }) => queue === type && succeeded === count)
      })
    } finally {
      await core.stop(5_000)
    }
    expect(runs.size).toBe(count)
    expect([...runs].filter(([, attempts]) => attempts.join() !== '1')).toEqual([])
    expect((await storage.listJobs({ place: 'dlq', limit: 1 })).items).toEqual([])
    expect(modes.has(true)).toBe(ms === 0)
  },
  180_000,
)
