/**
 * From the call that enqueues, in the worker's own process and with the worker idle, to the handler's
 * first instruction; one job at a time. Gives milliseconds, one of each job.
 */

import { performance } from 'node:perf_hooks'
import { createBenchCore } from './retry-core.js'
import { runGraphile, withGraphile, withPgBoss } from './peers.js'

const lanes = 10

/** @param enqueue puts in one job whose handler calls `onRun` */
async function measure(jobs, enqueue, onIdle) {
  const times = []
  for (let n = 0; n < jobs; n += 1) {
    const picked = onIdle()
    const start = performance.now()
    await Promise.all([enqueue(n), picked])
    times.push((await picked) - start)
  }
  return times
}

function pickUps() {
  let tell
  return {
    next: () => new Promise((resolve) => (tell = resolve)),
    run: () => tell?.(performance.now()),
  }
}

async function retryCore(url, jobs) {
  const { next, run } = pickUps()
  const { core, end } = createBenchCore(url, run)
  core.start()
  const times = await measure(jobs, (n) => core.queue.enqueue('noop.v1', n), next)
  await end()
  return times
}

const graphileWorker = (url, jobs) =>
  withGraphile(url, async ({ pool, utils }) => {
    const { next, run } = pickUps()
    const runner = await runGraphile(pool, lanes, run)
    const times = await measure(jobs, (n) => utils.addJob('noop', { n }), next)
    await runner.stop()
    return times
  })

/** At its shortest polling interval. */
const pgBoss = (url, jobs) =>
  withPgBoss(url, async (boss) => {
    const { next, run } = pickUps()
    await boss.work('noop', { pollingIntervalSeconds: 0.5 }, async () => run())
    const times = await measure(jobs, (n) => boss.send('noop', { n }), next)
    await boss.offWork('noop')
    return times
  })

/** `share` of the jobs, where each takes long. */
export const pickUpLatency = {
  'retry core': { run: retryCore, share: 1 },
  'graphile-worker': { run: graphileWorker, share: 1 },
  'pg-boss': { run: pgBoss, share: 0.1 },
}
