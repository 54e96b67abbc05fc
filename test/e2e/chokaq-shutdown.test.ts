/** L3, the jobs' half: what a worker leaves behind that is told to end while its lanes are full. */

import { afterEach, expect, it } from 'vitest'
import { sql } from 'kysely'
import { createPostgresStorage } from '../../src/chokaq/index.js'
import { startWorkerProcess, type WorkerProcess } from '../support/chokaq-processes.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
const jobs = 50
const graceMs = 10_000

let worker: WorkerProcess | undefined
afterEach(async () => {
  worker?.child.kill('SIGKILL')
  await worker?.exited
})

async function states(): Promise<Record<string, number>> {
  const { rows } = await sql<{ place: string; n: number }>`
    select 'hot ' || state as place, count(*)::int as n from chokaq.jobs_hot group by state
    union all select 'archive', count(*)::int from chokaq.jobs_archive
    union all select 'dlq', count(*)::int from chokaq.jobs_dlq
  `.execute(database().admin)
  return Object.fromEntries(rows.filter(({ n }) => n > 0).map(({ place, n }) => [place, n]))
}

it.each(['wait.v1', 'deaf.v1'])(
  'L3: SIGTERM while 50 jobs of %s run and 50 wait leaves nothing Fetched or Processing; exit 0 in the grace',
  async (type) => {
    const storage = createPostgresStorage({ db: database().admin })
    const job = { type, queue: type, payload: '{}' }
    await storage.enqueue(Array.from({ length: 2 * jobs }, () => job))
    worker = await startWorkerProcess(database().url, {
      graceMs,
      concurrency: jobs,
      queues: [type],
    })
    await waitFor('all lanes to be full', async () => (await states())['hot 2'] === jobs)
    const began = performance.now()
    worker.child.kill('SIGTERM')
    expect(await worker.exited).toBe(0)
    expect(performance.now() - began).toBeLessThan(graceMs + 2_000)
    const { rows } = await sql<{ state: number; attempts: number; n: number }>`
      select state, attempts, count(*)::int as n from chokaq.jobs_hot where queue = ${type}
      group by 1, 2
    `.execute(database().admin)
    // Their own failure it was not: no attempt is spent.
    expect(rows).toEqual([{ state: 0, attempts: 0, n: 2 * jobs }])
    expect(Object.keys(await states())).toEqual(['hot 0'])
  },
)
