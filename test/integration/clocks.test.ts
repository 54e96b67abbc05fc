/** Only the database's clock decides: no time zone, date style or hour of the clock change matters. */

import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

afterEach(async () => {
  for (const name of ['timezone', 'datestyle']) {
    await sql`alter database ${sql.id(database().name)} reset ${sql.id(name)}`.execute(
      database().admin,
    )
  }
})

async function setForDatabase(name: 'timezone' | 'datestyle', value: string): Promise<void> {
  await sql`alter database ${sql.id(database().name)} set ${sql.id(name)} = ${sql.lit(value)}`.execute(
    database().admin,
  )
}

describe('sessions in another zone and style', () => {
  it.each([
    ['America/New_York', 'ISO, MDY'],
    ['Australia/Lord_Howe', 'SQL, DMY'],
    ['Asia/Kathmandu', 'German'],
    ['Europe/Berlin', 'Postgres, DMY'],
  ])('%s, %s: each due row is taken once, in pages, and no other', async (timezone, datestyle) => {
    const due = []
    // All in one instant, so that the pages' order rests on the id; and across the lost hour.
    for (let n = 0; n < 7; n += 1) due.push(await seedDeal(database().admin))
    await sql`update messenger.deal_chat_provisions
      set next_attempt_at = timestamptz '2026-10-25 00:59:59.999999+00'`.execute(database().admin)
    const later = await seedDeal(database().admin, { age: '-2 seconds' })
    await setForDatabase('timezone', timezone)
    await setForDatabase('datestyle', datestyle)

    expect(await newJob({ retry: { batchSize: 2 } }).cycle()).toMatchObject({
      outcome: 'completed',
      claimed: 7,
      provisioned: 7,
      skipped: 0,
    })
    for (const deal of due) {
      expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
    }
    expect(await dealState(database().admin, later.dealId)).toMatchObject({ attempts: 0 })
  })

  it('a failed row is due again after its backoff by the database, whatever the zone', async () => {
    await setForDatabase('timezone', 'Pacific/Apia')
    const deal = await seedDeal(database().admin, { title: ' ' })
    await newJob().cycle()
    const [row] = await database().query<{ seconds: number }>(
      `select extract(epoch from next_attempt_at - updated_at)::float8 as seconds
       from messenger.deal_chat_provisions where deal_id = $1`,
      [deal.dealId],
    )
    // Base 60 s, up to a fifth less by jitter; AsOf lies a moment before the write.
    expect(row?.seconds).toBeGreaterThan(47)
    expect(row?.seconds).toBeLessThanOrEqual(60)
  })

  it('the process itself in another zone changes nothing', async () => {
    const deal = await seedDeal(database().admin)
    const result = await runCli(['run-once', '--json'], {
      DATABASE_URL: database().url,
      OUTBOX_RELAY: 'off',
      TZ: 'Pacific/Kiritimati',
    })
    expect(JSON.parse(result.stdout)).toMatchObject({ outcome: 'completed', provisioned: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
  })
})
