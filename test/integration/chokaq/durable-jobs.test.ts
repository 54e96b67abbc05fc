/** The operator's jobs and the day's retention, as serve runs them, with the worker's rights. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStorage, type JobState } from '../../../src/chokaq/index.js'
import { loadConfig } from '../../../src/config/load-config.js'
import { createDurableJobs, type DurableJobs } from '../../../src/durable-jobs.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { seedDeal } from '../../support/deals.js'
import { useTestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'

const database = useTestDatabase()
const instances: DurableJobs[] = []

afterEach(async () => {
  for (const jobs of instances.splice(0)) {
    await jobs.stop(2_000)
    await jobs.close()
  }
})

beforeEach(async () => {
  await sql`
    truncate chokaq.jobs_hot, chokaq.jobs_archive, chokaq.jobs_dlq, messenger.outbox_events,
      messenger.chat_provision_audit, messenger.deal_chat_provisions, messenger.chats cascade
  `.execute(database().admin)
})

function createInstance(): DurableJobs {
  const { url } = database()
  const environment = { DATABASE_URL: url, OUTBOX_RELAY: 'stdout', CHOKAQ_POLL_INTERVAL: '50ms' }
  const config = loadConfig(
    { ...environment, CHOKAQ_HEARTBEAT_MIN: '50ms', CHOKAQ_HEARTBEAT_MAX: '100ms' },
    { database: true, kafka: false, http: false },
  )
  const log = createLogger({ level: 'silent' })
  const onEventWritten = (): void => undefined
  const jobs = createDurableJobs({ config, log, metrics: createMetrics(), onEventWritten })
  instances.push(jobs)
  return jobs
}

const storage = () => createPostgresStorage({ db: database().admin })
const by = { by: 'ann', reason: 'after the outage' }

function until(id: string, state: JobState) {
  return waitFor(`job ${id} to be ${state}`, async () => {
    const job = await storage().findJob(id)
    expect(job?.state).toBe(state)
    return job
  })
}

async function count(query: ReturnType<typeof sql<{ n: number }>>): Promise<number> {
  const { rows } = await query.execute(database().admin)
  return rows[0]?.n ?? 0
}

const auditedDeals = () =>
  count(sql`select count(deal_id)::int as n from messenger.chat_provision_audit`)
const events = (status: string) =>
  count(sql`select count(*)::int as n from messenger.outbox_events
    where payload ->> 'Status' = ${status}`)

async function seedPoison(deals: number): Promise<void> {
  for (let n = 0; n < deals; n += 1) await seedDeal(database().admin, { attempts: 10 })
}

const closingLines = () =>
  database().query(
    'select affected from messenger.chat_provision_audit where deal_id is null order by id',
  )

/** A dead letter waits for a person, over a weekend too. */
async function letDaysPass(): Promise<void> {
  await database().query("update messenger.chat_provision_audit set at = at - interval '3 days'")
  await database().query(
    "update messenger.deal_chat_provisions set updated_at = updated_at - interval '4 days'",
  )
}

describe("the operator's jobs", () => {
  it('re-enqueue what a filter means, put it on record, and leave their result', async () => {
    await seedPoison(30)
    await seedDeal(database().admin, { attempts: 9 })
    const { core, start } = createInstance()
    start()
    const payload = { filter: { poison: true }, ...by }
    const { id } = await core.queue.enqueue('provision.requeue.v1', payload, { createdBy: 'ann' })
    const job = await until(id, 'Succeeded')
    expect(JSON.parse(job.checkpoint ?? '')).toEqual({
      affected: 30,
      skipped: 0,
      refused: 0,
      refusals: [],
    })
    expect(await events('Provisioning')).toBe(30)
    const audit = await database().query(
      `select distinct actor, reason, filter from messenger.chat_provision_audit`,
    )
    expect(audit).toEqual([
      { actor: 'ann', reason: `after the outage (job ${id})`, filter: 'poison' },
    ])
  })

  it.each([
    ['requeue', 'shutdown'],
    ['reemit', 'shutdown'],
    ['reemit', 'death'],
    ['reemit', 'death days ago'],
    ['reconcile', 'death days ago'],
  ])(
    'go on (%s) after the %s of their worker, do nothing twice, and tell of all runs',
    async (name, how) => {
      await seedPoison(300)
      const first = createInstance()
      first.start()
      const mend = name === 'reconcile' ? { mend: true } : {}
      const payload = { filter: { status: 'Failed' }, ...by, ...mend }
      const { id } = await first.core.queue.enqueue(`provision.${name}.v1`, payload)
      await waitFor('it to be on its way', async () => (await auditedDeals()) >= 5)
      if (how === 'shutdown') await first.stop(200)
      else {
        // It passes over a row that a checkpoint has locked just then.
        await waitFor('it to be taken for dead', async () => {
          await storage().rescue({ fetchedTimeoutMs: -1, zombieTimeoutMs: -1, limit: 10 })
          return (await storage().findJob(id))?.state === 'Zombie'
        })
        await first.stop(2_000)
        await storage().resurrect([id], { by: 'ann' })
      }
      expect(await auditedDeals()).toBeLessThan(300)
      if (how === 'death days ago') await letDaysPass()
      createInstance().start()
      const job = await until(id, 'Succeeded')
      expect(await auditedDeals()).toBe(300)
      expect(await events(name === 'requeue' ? 'Provisioning' : 'Failed')).toBe(300)
      expect(JSON.parse(job.checkpoint ?? '')).toMatchObject({ affected: 300, refused: 0 })
      if (name !== 'reconcile')
        expect(JSON.parse(job.checkpoint ?? '')).toHaveProperty('skipped', 0)
      expect(await closingLines()).toEqual([{ affected: 300 }])
    },
  )

  it('reconcile reports, and mends on request', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 1 })
    await sql`
      with chat as (
        insert into messenger.chats (id, kind, status, deal_id, title)
        values (${randomUUID()}, 'Deal', 'Active', ${dealId}, 'x') returning id
      )
      update messenger.deal_chat_provisions p set status = 'Ready', chat_id = chat.id from chat
    `.execute(database().admin)
    const { core, start } = createInstance()
    start()
    const look = await core.queue.enqueue('provision.reconcile.v1', { filter: {}, ...by })
    const report = await until(look.id, 'Succeeded')
    expect(report.checkpoint).toContain('"finding":"FEED_ROW_MISSING","outcome":"found"')
    const order = { dealIds: [dealId], mend: true, ...by }
    const mend = await core.queue.enqueue('provision.reconcile.v1', order)
    const mended = await until(mend.id, 'Succeeded')
    expect(mended.checkpoint).toContain('"finding":"FEED_ROW_MISSING","outcome":"mended"')
    expect(await count(sql`select count(*)::int as n from messenger.chat_events`)).toBe(1)
  })

  it('that nobody could carry out are dead letters at once, with the reason', async () => {
    createInstance().start()
    const payload = JSON.stringify({ filter: { status: 'Lost' }, ...by })
    const type = 'provision.requeue.v1'
    const [stored] = await storage().enqueue([{ type, queue: 'operations', payload }])
    const job = await until(stored?.id ?? '', 'Failed')
    expect(job).toMatchObject({ reason: 'InvalidPayload' })
    expect(job).toHaveProperty('details', expect.stringContaining('Not a status: "Lost"'))
  })

  it.each([
    ['give dealIds or filter', { ...by }],
    ['give dealIds or filter', { filter: {}, dealIds: ['x'], ...by }],
    ['filter: ', { filter: { colour: 'red' }, ...by }],
    ['by: ', { filter: {} }],
    ['by: "by" must say who', { filter: {}, ...by, by: '' }],
    ['by: "by" must say who', { filter: {}, ...by, by: 'x'.repeat(101) }],
    ['reason: "reason" must say why', { filter: {}, ...by, reason: ' \n ' }],
    ['reason: "reason" must say why', { filter: {}, ...by, reason: 'x'.repeat(1_001) }],
    ['filter: Not a status: "Lost"', { filter: { status: 'Lost' }, ...by }],
    ['filter: Not a', { filter: { tenant: '5' }, ...by }],
    ['filter: ', { filter: { olderThan: 'long' }, ...by }],
    ['dealIds: Not a deal id: "x"', { dealIds: ['x'], ...by }],
  ])('are refused before anything is stored: %s', async (why, payload) => {
    const { core } = createInstance()
    await expect(core.queue.enqueue('provision.reemit.v1', payload)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringContaining(why) as string,
    })
  })
})

describe('retention.v1', () => {
  it('runs once per day among all instances, and deletes old runs and settled events', async () => {
    await sql`
      insert into messenger.chat_provision_runs (id, started_at, finished_at, as_of, host)
      select gen_random_uuid(), clock_timestamp() - age, clock_timestamp() - age, clock_timestamp(), 'x'
      from unnest('{40 days, 1 hour}'::interval[]) as age
    `.execute(database().admin)
    for (let n = 0; n < 3; n += 1) createInstance().start()
    const archived = () =>
      database().query<{ n: number; key: string; checkpoint: unknown }>(
        `select count(*) over ()::int as n, idempotency_key as key, checkpoint
         from chokaq.jobs_archive where type = 'retention.v1'`,
      )
    const [job] = await waitFor("the day's retention", async () => {
      const rows = await archived()
      return rows.length > 0 && rows
    })
    expect(job?.key).toMatch(/^retention\.v1:\d{4}-\d\d-\d\d$/)
    expect(job?.checkpoint).toEqual({ runs: 1, attempts: 0, events: 0 })
    for (const instance of instances.splice(0)) {
      await instance.stop(2_000)
      await instance.close()
    }
    const late = createInstance()
    late.start()
    const probe = await late.core.queue.enqueue('provision.reconcile.v1', { filter: {}, ...by })
    await until(probe.id, 'Succeeded')
    const rows = await archived()
    expect(rows.filter(({ checkpoint }) => checkpoint !== null)).toHaveLength(1)
  })
})
