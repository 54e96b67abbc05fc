/**
 * A worker process on the compiled core, for tests that kill it: `node chokaq-worker.js URL OPTIONS`,
 * options as JSON. Says `ready` on stdout; ends in good order on SIGTERM.
 *
 * fence.v1 counts in chaos.fence who is at work on the job at once; wait.v1 runs until it is aborted,
 * deaf.v1 does not care that it is.
 */

import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { z } from 'zod'
import {
  createJobRegistry,
  createPostgresStorage,
  createRetryCore,
} from '../../dist/chokaq/index.js'

const [, , url, optionsText] = process.argv
const { graceMs, ...options } = JSON.parse(optionsText)

const connect = (max) =>
  new Kysely({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max }) }),
  })
const coreDb = connect(3)
const db = connect(5)
const registry = createJobRegistry()

registry.defineJob('fence.v1', z.object({ ms: z.number(), fails: z.boolean() }), async (job) => {
  const { jobId, token } = job.lease
  await sql`
    insert into chaos.fence as f (job_id, token, holders, violations, finished)
    values (${jobId}, ${token}, 1, 0, 0)
    on conflict (job_id) do update set holders = f.holders + 1,
      violations = f.violations + case when f.holders > 0 or f.token >= excluded.token then 1 else 0 end,
      token = excluded.token
  `.execute(db)
  await delay(job.payload.ms)
  const fails = job.payload.fails && job.attempt === 1
  await sql`
    update chaos.fence set holders = holders - 1, finished = finished + ${fails ? 0 : 1},
      violations = violations + case when token <> ${token} then 1 else 0 end
    where job_id = ${jobId}
  `.execute(db)
  if (fails) throw new Error('the first run fails')
})
registry.defineJob('wait.v1', z.unknown(), async ({ signal }) => {
  await delay(3_600_000, undefined, { signal, ref: false })
})
registry.defineJob('deaf.v1', z.unknown(), () => delay(3_600_000, undefined, { ref: false }))

const write = (fields, message) =>
  process.stderr.write(`${JSON.stringify({ message, ...fields })}\n`)
const quiet = () => undefined
const core = createRetryCore(
  { owner: `${process.pid}:${randomBytes(4).toString('hex')}`, archiveMs: 3_600_000, ...options },
  {
    storage: createPostgresStorage({ db: coreDb }),
    registry,
    log: { debug: quiet, info: quiet, warn: quiet, error: write },
  },
)
process.once('SIGTERM', async () => {
  await core.stop(graceMs)
  await Promise.all([coreDb.destroy(), db.destroy()])
  process.exit(0)
})
core.start()
process.stdout.write('ready\n')
