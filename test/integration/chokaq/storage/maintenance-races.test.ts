/** C4: instances that do their upkeep at the same time, among workers and operators at work. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPostgresStorage } from '../../../../src/chokaq/storage/postgres/postgres-storage.js'
import { createDatabase } from '../../../../src/postgres/connect.js'
import { newJob, usePostgresStorage } from './storages.js'

const queues = ['a', 'b', 'c', 'd']
const rounds = 25

describe('C4 three instances at once', () => {
  const postgres = usePostgresStorage()
  let instances: ReturnType<typeof createDatabase>[]
  beforeAll(() => {
    instances = [1, 2, 3].map((n) =>
      createDatabase({
        connectionString: postgres().database.url,
        applicationName: `chokaq-instance-${n}`,
        max: 6,
        onConnectionLost: () => undefined,
      }),
    )
  })
  afterAll(() => Promise.all(instances.map((db) => db.destroy())))

  test('C4 rescue, retention, folding and bulk actions meet no deadlock, and lose no job', async () => {
    const { database, storage } = postgres()
    const jobs = Array.from({ length: 1_200 }, (_, n) =>
      newJob({
        queue: queues[n % queues.length] ?? 'a',
        priority: n % 3,
        ...(n % 5 === 0 ? { idempotencyKey: `key-${n}` } : {}),
      }),
    )
    const ids = (await storage.enqueue(jobs)).map(({ id }) => id)
    const before = await deadlocks(database)

    const work = instances.flatMap((db, n) => {
      const own = createPostgresStorage({ db })
      const owner = `worker-${n}`
      return [
        repeatedly(async () => {
          const fetched = await own.fetch({ owner, limit: 20 })
          const leases = fetched.map(({ lease }) => lease)
          await own.start(leases.slice(0, 16))
          await own.heartbeat(leases.map((lease) => ({ lease })))
          // In another order than anybody else's.
          const [some, others] = [leases.slice(0, 6).reverse(), leases.slice(6, 12)]
          await own.succeed(some.map((lease) => ({ lease, durationMs: 1 })))
          await own.retry(others.map((lease) => ({ lease, delayMs: 0, error: 'again' })))
        }),
        repeatedly(() => own.rescue({ fetchedTimeoutMs: 0, zombieTimeoutMs: 0, limit: 50 })),
        repeatedly(() => own.foldMetrics({ olderThanMs: 0, limit: 5 })),
        repeatedly(() => own.prune({ place: 'archive', olderThanMs: 1e9, limit: 100 })),
        repeatedly(() =>
          own.applyBulk({ action: { kind: 'resurrect' }, filter: {}, cap: 200, by: owner }),
        ),
        repeatedly((round) => {
          const filter = { queue: queues[round % queues.length] }
          const action = { kind: 'cancel', reason: 'storm' } as const
          return own.applyBulk({ action, filter, cap: 30, by: owner })
        }),
      ]
    })
    await Promise.all(work)

    expect((await deadlocks(database)) - before).toBe(0)
    const places = await Promise.all(
      ['jobs_hot', 'jobs_archive', 'jobs_dlq'].map((table) =>
        database.query<{ id: string }>(`select id from chokaq.${table}`),
      ),
    )
    const found = places.flat().map(({ id }) => id)
    expect(found.sort()).toEqual([...ids].sort())
    await agree(
      storage,
      places.map((rows) => rows.length),
    )
  })
})

/** Every success is in the archive, which nothing was pruned from. */
async function agree(
  storage: ReturnType<typeof createPostgresStorage>,
  [, archived]: readonly number[],
): Promise<void> {
  const succeeded = (await storage.totals()).reduce((sum, totals) => sum + totals.succeeded, 0)
  expect(succeeded).toBe(archived)
}

async function repeatedly(pass: (round: number) => Promise<unknown>): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await pass(round)
}

/** As the server has counted them; it tells its counts a moment late. */
async function deadlocks(database: {
  query: (text: string) => Promise<{ deadlocks?: string }[]>
}): Promise<number> {
  await database.query('select pg_stat_force_next_flush()')
  const [row] = await database.query(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  return Number(row?.deadlocks)
}
