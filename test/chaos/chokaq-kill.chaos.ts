/**
 * 20,000 jobs, three workers, one of them killed at random again and again: each job ends once, in the
 * archive or among the dead letters, and no two owners ever work on one at once.
 */

import { sql } from 'kysely'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { createPostgresStorage } from '../../src/chokaq/index.js'
import { startWorkerProcess, type WorkerProcess } from '../support/chokaq-processes.js'
import { useTestDatabase } from '../support/test-database.js'
import { seededRandom } from './storm.js'

const jobs = 20_000
const workerCount = 3
/** Of a worker's life, at least and at most. */
const lifeMs = { min: 500, max: 1_500 }

const database = useTestDatabase()
const workers: WorkerProcess[] = []

afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ exited }) => exited))
})

const start = (): Promise<WorkerProcess> =>
  startWorkerProcess(database().adminUrl, { graceMs: 10_000 })

it(
  'three workers killed at random over 20,000 jobs: none lost, none twice, none by two owners at once',
  async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = seededRandom(seed)
    const { admin } = database()
    await sql`create schema chaos`.execute(admin)
    await sql`
      create table chaos.fence (job_id text primary key, token bigint not null,
        holders int not null, violations int not null, finished int not null)
    `.execute(admin)
    const storage = createPostgresStorage({ db: admin })
    const ids = new Set<string>()
    for (let n = 0; n < jobs; n += 1_000) {
      const batch = Array.from({ length: 1_000 }, () => ({
        type: 'fence.v1',
        queue: `q${Math.floor(random() * 3)}`,
        priority: Math.floor(random() * 101),
        payload: JSON.stringify({ ms: Math.floor(5 + 45 * random()), fails: random() < 0.05 }),
      }))
      for (const { id } of await storage.enqueue(batch)) ids.add(id)
    }
    await storage.changeQueue('q0', { maxWorkers: 12 }, { by: 'chaos' })

    for (let n = 0; n < workerCount; n += 1) workers.push(await start())
    let kills = 0
    let overfull = 0
    for (;;) {
      await delay(lifeMs.min + (lifeMs.max - lifeMs.min) * random())
      const left = await look()
      overfull += left.q0 > 12 ? 1 : 0
      if (left.hot === 0) break
      const victim = Math.floor(random() * workerCount)
      workers[victim]?.child.kill('SIGKILL')
      await workers[victim]?.exited
      workers[victim] = await start()
      kills += 1
    }

    const { rows } = await sql<Record<string, number>>`
      select (select count(*)::int from chokaq.jobs_archive) as archived,
        (select count(*)::int from chokaq.jobs_dlq) as dead,
        (select count(*)::int from chokaq.jobs_dlq where reason <> 'Zombie') as otherwise_dead,
        (select count(distinct id)::int from (select id from chokaq.jobs_archive
          union all select id from chokaq.jobs_dlq) ended) as ended,
        (select count(*)::int from chaos.fence where violations > 0) as two_owners,
        (select count(*)::int from chokaq.jobs_archive a left join chaos.fence f on f.job_id = a.id
          where f.finished is distinct from 1 or f.holders <> 0) as archived_undone,
        (select count(*)::int from chaos.fence where finished > 1) as done_twice
    `.execute(admin)
    const { archived = 0, dead = 0, ...rest } = rows[0] ?? {}
    process.stderr.write(
      `seed ${seed}: ${kills} kills, ${archived} archived, ${dead} zombies in the dead letters\n`,
    )
    expect(kills).toBeGreaterThan(5)
    expect(overfull).toBe(0)
    expect(archived + dead).toBe(jobs)
    expect(rest).toEqual({
      otherwise_dead: 0,
      ended: ids.size,
      two_owners: 0,
      archived_undone: 0,
      done_twice: 0,
    })
  },
  15 * 60_000,
)

async function look(): Promise<{ readonly hot: number; readonly q0: number }> {
  const { rows } = await sql<{ hot: number; q0: number }>`
    select count(*)::int as hot, count(*) filter (where queue = 'q0' and state <> 0)::int as q0
    from chokaq.jobs_hot
  `.execute(database().admin)
  return rows[0] ?? { hot: 0, q0: 0 }
}
