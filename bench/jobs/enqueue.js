/** Jobs enqueued per second, one after the other and in bulk, beside a bare insert into the same table. */

import { performance } from 'node:perf_hooks'
import { monotonicFactory } from 'ulid'
import { createBenchCore } from './retry-core.js'
import { withGraphile, withPgBoss } from './peers.js'

const portionSize = 1_000
const newId = monotonicFactory()
const range = (jobs) => Array.from({ length: jobs }, (_, n) => n)

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function inPortions(jobs, send) {
  for (let from = 0; from < jobs; from += portionSize) {
    await send(range(Math.min(portionSize, jobs - from)).map((n) => from + n))
  }
}

async function prove(query, text, expected) {
  const [row] = await query(text)
  if (row.n !== expected) throw new Error(`${text}: ${row.n} instead of ${expected}`)
}

const stored = 'select count(*)::int as n from chokaq.jobs_hot'

async function bareInsert(_url, jobs, query, bulk) {
  await query('truncate chokaq.jobs_hot')
  const insert = (payloads) =>
    query(
      `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
       select id, 'default', 'noop.v1', payload, 10
       from unnest($1::text[], $2::json[]) as given(id, payload)`,
      [payloads.map(() => newId()), payloads.map(String)],
    )
  const ms = await timed(async () => {
    if (bulk) await inPortions(jobs, insert)
    else for (let n = 0; n < jobs; n += 1) await insert([n])
  })
  await prove(query, stored, jobs)
  return ms
}

async function retryCore(url, jobs, query, bulk) {
  await query('truncate chokaq.jobs_hot')
  const { core, end } = createBenchCore(url, () => undefined)
  const { queue } = core
  const ms = await timed(async () => {
    if (bulk) {
      await inPortions(jobs, (portion) =>
        queue.enqueueMany(portion.map((payload) => ({ job: 'noop.v1', payload }))),
      )
    } else for (let n = 0; n < jobs; n += 1) await queue.enqueue('noop.v1', n)
  })
  await end()
  await prove(query, stored, jobs)
  return ms
}

const graphileWorker = (url, jobs, query, bulk) =>
  withGraphile(url, async ({ utils }) => {
    await query('truncate graphile_worker._private_jobs')
    const ms = await timed(async () => {
      if (bulk) {
        await inPortions(jobs, (portion) =>
          utils.addJobs(portion.map((n) => ({ identifier: 'noop', payload: { n } }))),
        )
      } else for (let n = 0; n < jobs; n += 1) await utils.addJob('noop', { n })
    })
    await prove(query, 'select count(*)::int as n from graphile_worker._private_jobs', jobs)
    await query('truncate graphile_worker._private_jobs')
    return ms
  })

const pgBoss = (url, jobs, query, bulk) =>
  withPgBoss(url, async (boss) => {
    await query('truncate pgboss.job')
    const ms = await timed(async () => {
      if (bulk) {
        await inPortions(jobs, (portion) =>
          boss.insert(portion.map((n) => ({ name: 'noop', data: { n } }))),
        )
      } else for (let n = 0; n < jobs; n += 1) await boss.send('noop', { n })
    })
    await prove(query, 'select count(*)::int as n from pgboss.job', jobs)
    return ms
  })

export const bare = 'bare insert'

export const enqueuers = {
  [bare]: { run: bareInsert },
  'retry core': { run: retryCore },
  'graphile-worker': { run: graphileWorker },
  'pg-boss': { run: pgBoss },
}
