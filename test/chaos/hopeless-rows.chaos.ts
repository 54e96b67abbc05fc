/** Rows that can't be finished, in front of good ones: `npm run test:chaos`. */

import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { installChatFaults, setChatFault } from '../../src/demo/chat-faults.js'
import { seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

beforeAll(() => installChatFaults(database().admin))

async function seedMany(count: number, age: string, sqlstates: readonly string[]): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const { dealId } = await seedDeal(database().admin, { age })
    const sqlstate = sqlstates[n % Math.max(1, sqlstates.length)]
    if (sqlstate !== undefined) await setChatFault(database().admin, { dealId, sqlstate })
  }
}

interface Counted {
  readonly status: string
  readonly attempts: number
  readonly last_error: string | null
  readonly n: number
}

function counted(): Promise<Counted[]> {
  return database().query<Counted>(
    `select status, attempts, last_error, count(*)::int as n
     from messenger.deal_chat_provisions group by 1, 2, 3 order by 1, 2, 3`,
  )
}

describe('hopeless rows in front of good ones', () => {
  it('500 that always meet contention: the 500 behind are Ready in the first cycle', async () => {
    await seedMany(500, '20 minutes', ['40P01', '40001'])
    await seedMany(500, '10 minutes', [])
    expect(await newJob().cycle()).toMatchObject({
      outcome: 'completed',
      reason: null,
      provisioned: 500,
      retried: 500,
    })
    expect(await counted()).toEqual([
      { status: 'Failed', attempts: 1, last_error: 'contention:40001', n: 250 },
      { status: 'Failed', attempts: 1, last_error: 'contention:40P01', n: 250 },
      { status: 'Ready', attempts: 1, last_error: null, n: 500 },
    ])
  }, 300_000)

  it('20 that end their session: they reach Max, the 500 behind are Ready within two cycles', async () => {
    await seedMany(20, '20 minutes', ['57P01'])
    await seedMany(500, '10 minutes', [])
    const job = newJob({ retry: { maxAttempts: 3 } })
    await job.cycle()
    await job.cycle()
    const ready = (await counted()).find((row) => row.status === 'Ready')
    expect(ready).toMatchObject({ attempts: 1, n: 500 })
    for (const failed of [0, 20]) {
      await sql`update messenger.deal_chat_provisions set next_attempt_at = clock_timestamp()
        where status = 'Failed'`.execute(database().admin)
      expect(await job.cycle()).toMatchObject({ claimed: 20, failed })
    }
    expect(await counted()).toEqual([
      { status: 'Failed', attempts: 3, last_error: 'contention:57P01', n: 20 },
      { status: 'Ready', attempts: 1, last_error: null, n: 500 },
    ])
  }, 300_000)
})
