/**
 * No-op jobs per second at ten lanes, waiting jobs already stored: each gives the milliseconds from the
 * worker's start to the last completion's commit, and proves that all was done.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createBenchCore } from './retry-core.js'
import { graphileBest, runGraphile, withGraphile, withPgBoss } from './peers.js'

const lanes = 10

/** Counts distinct payloads, and tells when it has seen all. */
function counter(jobs) {
  const seen = new Set()
  let tell
  const all = new Promise((resolve) => (tell = resolve))
  const count = (n) => {
    if (seen.has(n)) throw new Error(`job ${n} ran twice`)
    seen.add(n)
    if (seen.size === jobs) tell()
  }
  return { all, count }
}

const range = (jobs) => Array.from({ length: jobs }, (_, n) => n)

/** History is kept: each job ends as a row of the archive. */
const retryCore = (options) => async (url, jobs, query) => {
  await query('truncate chokaq.jobs_hot, chokaq.jobs_archive, chokaq.jobs_dlq')
  const { all, count } = counter(jobs)
  const { core, end } = createBenchCore(url, ({ payload }) => count(payload), options)
  for (let from = 0; from < jobs; from += 1_000) {
    const portion = range(Math.min(1_000, jobs - from)).map((n) => from + n)
    await core.queue.enqueueMany(portion.map((payload) => ({ job: 'noop.v1', payload })))
  }
  await query('vacuum analyze chokaq.jobs_hot')
  const start = performance.now()
  core.start()
  await all
  await end()
  const ms = performance.now() - start
  await settled(query, 'select count(*)::int as n from chokaq.jobs_archive', jobs)
  return ms
}

const graphileWorker = (preset) => (url, jobs, query) =>
  withGraphile(url, async ({ pool, utils }) => {
    const { all, count } = counter(jobs)
    await utils.addJobs(range(jobs).map((n) => ({ identifier: 'noop', payload: { n } })))
    await query('vacuum analyze graphile_worker._private_jobs')
    const start = performance.now()
    const runner = await runGraphile(pool, lanes, ({ n }) => count(n), preset)
    await all
    // It keeps no history: what is done is gone. Its stop doesn't wait for the last completions.
    await settled(query, 'select count(*)::int as n from graphile_worker._private_jobs', 0)
    const ms = performance.now() - start
    await runner.stop()
    return ms
  })

/** Fetched in batches as soon as the last one is done, not at its polling interval. */
const pgBossBest = (url, jobs, query) =>
  withPgBoss(url, async (boss) => {
    await query('truncate pgboss.job')
    const { all, count } = counter(jobs)
    await boss.insert(range(jobs).map((n) => ({ name: 'noop', data: { n } })))
    await query('vacuum analyze pgboss.job')
    const start = performance.now()
    for (;;) {
      const batch = await boss.fetch('noop', { batchSize: 1_000 })
      if (batch === null || batch.length === 0) break
      for (const { data } of batch) count(data.n)
      await boss.complete(
        'noop',
        batch.map(({ id }) => id),
      )
    }
    await all
    const ms = performance.now() - start
    await settled(query, completed, jobs)
    return ms
  })

/** As it comes: ten workers that poll every two seconds for one job. */
const pgBossDefault = (url, jobs, query) =>
  withPgBoss(url, async (boss) => {
    await query('truncate pgboss.job')
    const { all, count } = counter(jobs)
    await boss.insert(range(jobs).map((n) => ({ name: 'noop', data: { n } })))
    const start = performance.now()
    for (let lane = 0; lane < lanes; lane += 1) {
      await boss.work('noop', async ([job]) => count(job.data.n))
    }
    await all
    const ms = performance.now() - start
    await boss.offWork('noop')
    await settled(query, completed, jobs)
    return ms
  })

const completed = `select count(*)::int as n from pgboss.job where state = 'completed'`

/** Waits until the last completions are written, which is part of the work. */
async function settled(query, text, expected) {
  const deadline = performance.now() + 10_000
  for (;;) {
    const [row] = await query(text)
    if (row.n === expected) return
    if (performance.now() > deadline) {
      throw new Error(`${text}: ${row.n} instead of ${expected}`)
    }
    await delay(5)
  }
}

/** Nothing set but ten lanes. `jobs` names another number of them where so many would take hours. */
export const asItComes = {
  'retry core': { run: retryCore({}) },
  'graphile-worker': { run: graphileWorker() },
  'pg-boss': { run: pgBossDefault, jobs: 'polled' },
}

/** What made each of them fastest here. */
export const best = {
  'retry core': { run: retryCore({ batchSize: 500 }) },
  'graphile-worker': { run: graphileWorker(graphileBest) },
  'pg-boss': { run: pgBossBest },
}
