/** The run lock: refused behind a pooler, free after every kind of end, noticed when lost. */

import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockKeys, tryAcquireSessionLock, type HeldLock } from '../../src/postgres/session-lock.js'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { runCli, startCli } from '../support/cli.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { describeWithPgbouncer, startPgbouncer, type Pgbouncer } from '../support/pgbouncer.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

/** A crash must leave the lock free within this time. */
const freeWithinMs = 5_000

async function acquire(ttlMs: number): Promise<HeldLock> {
  const lock = await tryAcquireSessionLock({
    connectionString: database().url,
    lock: lockKeys.run,
    ttlMs,
    applicationName: 'test holder',
  })
  if (!lock.held) throw new Error(`the lock is held by ${lock.holder}`)
  return lock
}

async function untilFree(timeoutMs: number): Promise<void> {
  await waitFor('the run lock to be free', async () => (await holders()) === 0, { timeoutMs })
}

async function holders(): Promise<number> {
  const rows = await database().query(
    `select pid from pg_locks where locktype = 'advisory' and objsubid = 2 and objid = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [lockKeys.run.key],
  )
  return rows.length
}

describeWithPgbouncer('L1, L5: behind a transaction pooler', () => {
  let pooler: Pgbouncer
  beforeAll(async () => {
    pooler = await startPgbouncer({ poolSize: 3 })
  })
  afterAll(() => pooler.stop())

  it('start is refused with exit 2, and LOCK_DATABASE_URL is named', async () => {
    const deal = await seedDeal(database().admin)
    const environment = { DATABASE_URL: pooler.url(database().name), OUTBOX_RELAY: 'off' }
    const once = await runCli(['run-once'], environment)
    expect(once).toMatchObject({ exitCode: 2, stdout: '' })
    expect(once.stderr).toMatch(/^error: .*LOCK_DATABASE_URL/m)

    const service = startCli(['serve'], { ...environment, HTTP_PORT: '0' })
    expect(await service.exited).toBe(2)
    expect(service.stderr()).toMatch(/^error: .*LOCK_DATABASE_URL/m)
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({ attempts: 0, chats: 0 })
    expect(await holders()).toBe(0)
  })

  it('with LOCK_DATABASE_URL set to a direct address everything works', async () => {
    const deals = []
    for (let n = 0; n < 30; n += 1) deals.push(await seedDeal(database().admin))
    const result = await runCli(['run-once', '--json'], {
      DATABASE_URL: pooler.url(database().name),
      LOCK_DATABASE_URL: database().url,
      OUTBOX_RELAY: 'off',
    })
    expect(result.exitCode).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ outcome: 'completed', provisioned: 30 })
    for (const deal of deals) {
      expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
    }
    expect(await holders()).toBe(0)
  })
})

describe('L2: the lock does not outlive its code', () => {
  it('an exception in the middle of a cycle leaves it free, and the next one runs', async () => {
    await seedDeal(database().admin)
    const broken = newJob({
      chats: {
        ...referenceChats,
        creation: undefined,
        findByDeal: () => Promise.reject(new Error('boom')),
      },
    })
    await sql`alter table messenger.chat_provision_runs rename to elsewhere`.execute(
      database().admin,
    )
    await expect(broken.cycle()).rejects.toThrow('chat_provision_runs')
    await sql`alter table messenger.elsewhere rename to chat_provision_runs`.execute(
      database().admin,
    )
    await untilFree(freeWithinMs)
    expect(await broken.cycle()).toMatchObject({ outcome: 'completed', retried: 1 })
    expect(await holders()).toBe(0)
  })

  it('kill -9 in the middle of a row leaves it free within 5 s; another instance finishes', async () => {
    const deal = await seedDeal(database().admin)
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(deal.dealId)
    const victim = startCli(['run-once'], { DATABASE_URL: database().url, OUTBOX_RELAY: 'off' })
    await untilBlocked(database(), 'chat-provision-retry')
    victim.child.kill('SIGKILL')
    await victim.exited
    await untilFree(freeWithinMs)
    await rival.rollback()

    expect(await newJob().cycle()).toMatchObject({ outcome: 'completed' })
    await waitFor('the row to be finished', async () => {
      await newJob().cycle()
      return (await dealState(database().admin, deal.dealId)).status === 'Ready'
    })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
  })
})

describe('the holder', () => {
  it('that is silent for LockTtl is let go by the server, and notices at once', async () => {
    const lock = await acquire(1_000)
    expect(lock.lost.aborted).toBe(false)
    await untilFree(freeWithinMs)
    await waitFor('the holder to notice', () => lock.lost.aborted)
    expect(await lock.release()).toBe(false)
  })

  it('is told the truth by its unlock', async () => {
    const lock = await acquire(60_000)
    expect(await lock.release()).toBe(true)
    expect(await holders()).toBe(0)
  })

  it('whose session is ended stops its cycle at the next row', async () => {
    const first = await seedDeal(database().admin, { age: '20 minutes' })
    const second = await seedDeal(database().admin, { age: '10 minutes' })
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(first.dealId)
    const job = newJob({ retry: { concurrency: 1 } })
    const running = job.cycle()
    await untilBlocked(database(), 'chat-provision-retry')
    await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'chat-provision-retry run lock'`,
    )
    await untilFree(freeWithinMs)
    await holdUp.rollback()

    expect(await running).toMatchObject({
      outcome: 'aborted',
      reason: 'the run lock was lost',
      provisioned: 1,
    })
    expect(await dealState(database().admin, second.dealId)).toMatchObject({ attempts: 0 })
    expect(job.lines).toContainEqual(expect.objectContaining({ event: 'run lock lost' }))
  })

  it('that is foreign is reported and never ended', async () => {
    const foreign = new pg.Client({
      connectionString: database().adminUrl,
      application_name: 'a script of somebody',
    })
    await foreign.connect()
    await foreign.query('select pg_advisory_lock($1, $2)', [
      lockKeys.run.namespace,
      lockKeys.run.key,
    ])
    const summary = await newJob().cycle()
    expect(summary).toMatchObject({ outcome: 'skipped' })
    expect(summary.reason).toContain('a script of somebody (pid ')
    const { rows } = await foreign.query<{ alive: boolean }>('select true as alive')
    expect(rows).toEqual([{ alive: true }])
    await foreign.end()
  })
})
