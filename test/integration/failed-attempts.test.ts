/** What is kept of the attempts that failed: each once, of one deal no more than some, and not for ever. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { installChatFaults, setChatFault } from '../../src/demo/chat-faults.js'
import { referenceChatView } from '../../src/operations/chat-view.js'
import { showProvision, type FailedAttempt } from '../../src/operations/show-provision.js'
import { attemptsKept, pruneAttempts } from '../../src/provisioning/failed-attempts.js'
import { seedDeal, type DealSeed, type SeededDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

beforeAll(() => installChatFaults(database().admin))

async function seedFault(sqlstate: string, seed: DealSeed = {}): Promise<SeededDeal> {
  const deal = await seedDeal(database().admin, seed)
  await setChatFault(database().admin, { dealId: deal.dealId, sqlstate })
  return deal
}

async function kept({ dealId }: SeededDeal): Promise<readonly FailedAttempt[]> {
  const detail = await showProvision(database().admin, referenceChatView, dealId)
  return detail?.failedAttempts ?? []
}

const makeDue = () =>
  database().query(`update messenger.deal_chat_provisions
    set next_attempt_at = clock_timestamp() - interval '1 second'`)

const workerDiedBefore = () =>
  database().query(`insert into messenger.chat_provision_runs (id, as_of, host)
    values (gen_random_uuid(), now(), 'a worker that was killed')`)

describe('an attempt that failed', () => {
  it('is kept with its error, its run and when the next is due; one that succeeds writes nothing', async () => {
    const good = await seedDeal(database().admin)
    const bad = await seedFault('23514')
    const { jobRunId } = await newJob().cycle()
    await makeDue()
    await database().query(`update chat_faults.faults set sqlstate = '40P01'`)
    await newJob().cycle()

    const attempts = await kept(bad)
    expect(attempts).toMatchObject([
      { attempt: 1, error: 'constraint:23514', runId: jobRunId },
      { attempt: 2, error: 'contention:40P01' },
    ])
    for (const { durationMs, failedAt, nextAttemptAt } of attempts) {
      expect(durationMs).toBeGreaterThanOrEqual(0)
      expect(Date.parse(nextAttemptAt)).toBeGreaterThan(Date.parse(failedAt))
    }
    // Its waits between the tries in place are of the attempt.
    expect(attempts[1]?.durationMs).toBeGreaterThan(0)
    expect(await kept(good)).toEqual([])
  })

  it('is kept once where it was put on record before its work', async () => {
    await workerDiedBefore()
    const bad = await seedFault('23514')
    await newJob().cycle()
    expect(await kept(bad)).toMatchObject([{ attempt: 1, error: 'constraint:23514' }])
  })

  it('of which the worker died is kept by the next one, with the time that it was begun', async () => {
    const deal = await seedFault('23514', { status: 'Provisioning', attempts: 3 })
    await database().query(
      `update messenger.deal_chat_provisions set last_error = 'crash:WORKER_DIED'`,
    )
    const [before] = await database().query<{ at: Date }>(
      'select updated_at as at from messenger.deal_chat_provisions',
    )
    await newJob().cycle()
    const attempts = await kept(deal)
    expect(attempts).toMatchObject([
      { attempt: 3, error: 'crash:WORKER_DIED', durationMs: null, runId: null },
      { attempt: 4, error: 'constraint:23514' },
    ])
    expect(new Date(attempts[0]?.failedAt ?? '').getTime()).toBe(before?.at.getTime())
  })

  it('of which the worker died on the last one is kept when the row is closed', async () => {
    const deal = await seedDeal(database().admin, { status: 'Provisioning', attempts: 10 })
    await newJob().cycle()
    expect(await kept(deal)).toMatchObject([{ attempt: 10, error: 'crash:WORKER_DIED' }])
  })
})

describe('what is kept', () => {
  const seedAttempts = (id: string, count: number, age: string) =>
    database().query(
      `insert into messenger.chat_provision_attempts
         (provision_id, attempt, failed_at, error, next_attempt_at)
       select $1, n, clock_timestamp() - $3::interval, 'guard:NO_MEMBERS', clock_timestamp()
       from generate_series(1, $2::int) n order by n`,
      [id, count, age],
    )

  it('of one deal are the newest, whatever the limit of attempts', async () => {
    const other = await seedDeal(database().admin, { attempts: 99 })
    await seedAttempts(other.id, 5, '1 hour')
    const deal = await seedFault('23514', { attempts: attemptsKept + 5 })
    await seedAttempts(deal.id, attemptsKept + 5, '1 hour')
    await newJob({ retry: { maxAttempts: 99 } }).cycle()
    const attempts = await kept(deal)
    expect(attempts.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: attemptsKept }, (_, n) => n + 7),
    )
    expect(await kept(other)).toHaveLength(5)
  })

  it('goes after the retention, in batches, and with the deal', async () => {
    const old = await seedDeal(database().admin)
    const young = await seedDeal(database().admin)
    await seedAttempts(old.id, 1_500, '31 days')
    await seedAttempts(young.id, 2, '29 days')
    const signal = new AbortController().signal
    expect(await pruneAttempts(database().admin, 30 * 86_400_000, signal)).toBe(1_500)
    expect(await kept(old)).toEqual([])
    expect(await kept(young)).toHaveLength(2)
    await sql`delete from messenger.deal_chat_provisions where id = ${young.id}`.execute(
      database().admin,
    )
    expect(await database().query('select from messenger.chat_provision_attempts')).toEqual([])
  })

  it('names no deal that is not there', async () => {
    await expect(seedAttempts(randomUUID(), 1, '1 hour')).rejects.toMatchObject({ code: '23503' })
  })
})
