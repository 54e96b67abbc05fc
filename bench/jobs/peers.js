/** The queues that people would use instead, set up alike for all benches. */

import { makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import PgBoss from 'pg-boss'

const ignore = () => undefined

export const silentLogger = {
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  scope: () => silentLogger,
}

export async function withGraphile(url, work) {
  const pool = new pg.Pool({ connectionString: url, max: 14 })
  pool.on('error', ignore).on('connect', (client) => client.on('error', ignore))
  const utils = await makeWorkerUtils({ pgPool: pool, logger: silentLogger })
  await utils.migrate()
  try {
    return await work({ pool, utils })
  } finally {
    await utils.release()
    await pool.end()
  }
}

/** `preset` undefined: as it comes. */
export function runGraphile(pool, lanes, task, preset) {
  return run({
    pgPool: pool,
    concurrency: lanes,
    noHandleSignals: true,
    logger: silentLogger,
    taskList: { noop: task },
    ...(preset && { preset }),
  })
}

/** Its fastest setting: a local queue, and completions in batches. */
export const graphileBest = {
  worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
}

export async function withPgBoss(url, work) {
  const boss = new PgBoss({ connectionString: url, max: 14, supervise: false, schedule: false })
  boss.on('error', ignore)
  await boss.start()
  await boss.createQueue('noop')
  try {
    return await work(boss)
  } finally {
    await boss.stop({ graceful: false, wait: true })
  }
}
