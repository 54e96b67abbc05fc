/** Who works the due rows off: each takes the lanes, gives the milliseconds of the work alone. */

import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import PgBoss from 'pg-boss'
import { startJob, timedCycle } from '../frame/service-cycle.js'
import { provisionBare } from './one-statement.js'
import { provisionInSteps } from './seven-statements.js'

const ignore = () => undefined
const dueIds = 'select id from messenger.deal_chat_provisions where status = $1'

async function readDue(url) {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(dueIds, ['Failed'])
  await client.end()
  return rows.map((row) => row.id)
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Each lane has a session of its own and knows its rows already. */
async function bareLoop(url, lanes) {
  const ids = await readDue(url)
  const clients = Array.from({ length: lanes }, () => new pg.Client(url))
  await Promise.all(clients.map((client) => client.connect()))
  const runId = randomUUID()
  const ms = await timed(() =>
    Promise.all(
      clients.map(async (client) => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop())
          await provisionBare(client, id, runId)
      }),
    ),
  )
  await Promise.all(clients.map((client) => client.end()))
  return ms
}

async function service(url, lanes, rows) {
  const job = await startJob(url, { CHAT_PROVISION_RETRY_CONCURRENCY: String(lanes) })
  const ms = await timedCycle(job, rows)
  await job.close()
  return ms
}

/** The handler's transaction without a queue around it. */
async function stepsLoop(url, lanes) {
  const ids = await readDue(url)
  const pool = new pg.Pool({ connectionString: url, max: lanes })
  const runId = randomUUID()
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: lanes }, async () => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop())
          await provisionInSteps(pool, id, runId)
      }),
    ),
  )
  await pool.end()
  return ms
}

/** Its fastest setting: a local queue, and completions in batches. */
const graphileWorker = (provision) => async (url, lanes, rows) => {
  const ids = await readDue(url)
  const pool = new pg.Pool({ connectionString: url, max: lanes + 4 })
  pool.on('error', ignore).on('connect', (client) => client.on('error', ignore))
  const utils = await makeWorkerUtils({ pgPool: pool })
  await utils.migrate()
  await utils.addJobs(ids.map((id) => ({ identifier: 'provision', payload: { id } })))
  const runId = randomUUID()
  let done = 0
  let allDone
  const finished = new Promise((resolve) => (allDone = resolve))
  let runner
  const ms = await timed(async () => {
    runner = await run({
      pgPool: pool,
      concurrency: lanes,
      noHandleSignals: true,
      logger: silentLogger,
      preset: {
        worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
      },
      taskList: {
        provision: async ({ id }) => {
          await provision(pool, id, runId)
          done += 1
          if (done === rows) allDone()
        },
      },
    })
    await finished
    // The last completions are part of the work.
    await runner.stop()
  })
  await utils.release()
  await pool.end()
  return ms
}

const silentLogger = {
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  scope: () => silentLogger,
}

/** Batches of a hundred, fetched as soon as a lane is free rather than at its polling interval. */
const pgBoss = (provision) => async (url, lanes) => {
  const ids = await readDue(url)
  const boss = new PgBoss({
    connectionString: url,
    max: lanes + 2,
    supervise: false,
    schedule: false,
  })
  boss.on('error', ignore)
  await boss.start()
  await boss.createQueue('provision')
  await boss.insert(ids.map((id) => ({ name: 'provision', data: { id } })))
  const pool = new pg.Pool({ connectionString: url, max: lanes })
  const runId = randomUUID()
  const batchSize = 100
  const ms = await timed(async () => {
    for (;;) {
      const jobs = await boss.fetch('provision', { batchSize })
      if (jobs === null || jobs.length === 0) return
      const waiting = [...jobs]
      await Promise.all(
        Array.from({ length: lanes }, async () => {
          for (let job = waiting.pop(); job !== undefined; job = waiting.pop())
            await provision(pool, job.data.id, runId)
        }),
      )
      await boss.complete(
        'provision',
        jobs.map((job) => job.id),
      )
    }
  })
  await pool.end()
  await boss.stop({ graceful: false, wait: true })
  return ms
}

export const contestants = {
  'bare statement loop': bareLoop,
  'this service': service,
  'seven statements loop': stepsLoop,
  'graphile-worker': graphileWorker(provisionInSteps),
  'pg-boss': pgBoss(provisionInSteps),
  'graphile-worker, one statement': graphileWorker(provisionBare),
  'pg-boss, one statement': pgBoss(provisionBare),
}
