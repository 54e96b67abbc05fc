/** A database whose transactions begin in another isolation level than PostgreSQL's own default. */

import { afterEach, describe, expect, it } from 'vitest'
import {
  createJobRegistry,
  createPostgresStorage,
  createRetryCore,
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

describe.each(['repeatable read', 'serializable'])('where %s is the default', (level) => {
  it.each([
    ['on sessions that are set up for short work', true],
    ['on any other sessions', false],
  ])('jobs are worked off, never more at once than MaxWorkers, %s', async (_which, rowWork) => {
    const { name, url } = database()
    await database().query(`alter database ${name} set default_transaction_isolation to '${level}'`)
    const connect = () => {
      const db = createDatabase({
        connectionString: url,
        applicationName: 'jobs under test',
        max: 3,
        rowWork,
        onConnectionLost: () => undefined,
      })
      ends.push(() => db.destroy())
      return createPostgresStorage({ db })
    }
    const storage = connect()
    const queue = `${level.replace(' ', '-')}-${String(rowWork)}`
    await storage.changeQueue(queue, { maxWorkers: 5 }, { by: 'ops' })
    const job = { type: 'a.v1', queue, payload: '{}' }
    await storage.enqueue(Array.from({ length: 60 }, () => job))

    const storages = [storage, connect(), connect()]
    const fetched = await Promise.all(
      storages.map((each, n) => each.fetch({ owner: `w${n}`, limit: 20, queues: [queue] })),
    )
    expect(fetched.flat()).toHaveLength(5)
    await storage.giveBack(fetched.flat().map(({ lease }) => ({ lease })))

    const told: unknown[] = []
    for (const [n, each] of storages.entries()) {
      const registry = createJobRegistry()
      registry.defineJob('a.v1', anything, () => undefined)
      const tell = (fields: object): void => void told.push(fields)
      const core = createRetryCore(
        {
          ...{ owner: `${queue}-${n}`, pollIntervalMs: 50, batchSize: 20, concurrency: 10 },
          ...{ maxAttempts: 3, heartbeatMinMs: 500, heartbeatMaxMs: 1_000, archiveMs: 3_600_000 },
          ...{ fetchedTimeoutMs: 3_600_000, zombieTimeoutMs: 3_600_000, queues: [queue] },
        },
        { storage: each, registry, log: { debug: tell, info: tell, warn: tell, error: tell } },
      )
      ends.unshift(() => core.stop(5_000))
      core.start()
    }
    await waitFor('all to be done', async () => {
      const [row] = await database().query<{ n: number }>(
        `select count(*)::int as n from chokaq.jobs_archive where queue = '${queue}'`,
      )
      return row?.n === 60
    })
    if (rowWork) expect(told).toEqual([])
  })
})
