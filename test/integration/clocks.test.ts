/** Only the database's clock decides: no time zone, date style or hour of the clock change matters. */

import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { runCli, startCli } from '../support/cli.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

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

const shiftedClock = `--import ${new URL('../support/shifted-clock.mjs', import.meta.url).href}`

describe('a host whose clock is off', () => {
  it.each([
    ['five minutes ahead', 300_000],
    ['five minutes behind', -300_000],
    ['a year ahead', 31_536_000_000],
    ['at the epoch', -Date.now()],
  ])('%s takes what is due by the database, and nothing else', async (_, shiftMs) => {
    const due = await seedDeal(database().admin)
    const failing = await seedDeal(database().admin, { title: ' ' })
    const early = await seedDeal(database().admin, { age: '-1 minute' })
    const hanging = await seedDeal(database().admin, { status: 'Provisioning', age: '6 minutes' })
    const working = await seedDeal(database().admin, { status: 'Provisioning', age: '4 minutes' })
    const result = await runCli(['run-once', '--json'], {
      DATABASE_URL: database().url,
      OUTBOX_RELAY: 'stdout',
      NODE_OPTIONS: shiftedClock,
      CLOCK_SHIFT_MS: String(shiftMs),
    })
    expect(result.exitCode).toBe(0)
    const lines = result.stdout.trim().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      outcome: 'completed',
      claimed: 3,
      provisioned: 2,
      retried: 1,
      published: 2,
    })
    for (const { dealId } of [due, hanging])
      expect(await dealState(database().admin, dealId)).toMatchObject(readyDeal)
    for (const { dealId } of [early, working])
      expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: 0, chats: 0 })

    const [times] = await database().query<Record<string, boolean>>(
      `select
         (select next_attempt_at between now() and now() + interval '1 minute'
            from messenger.deal_chat_provisions where deal_id = $1) as backoff,
         (select bool_and(updated_at between now() - interval '1 minute' and now())
            from messenger.deal_chat_provisions where attempts > 0) as updated,
         (select bool_and(occurred_at between now() - interval '1 minute' and now()
              and published_at between now() - interval '1 minute' and now())
            from messenger.outbox_events) as events,
         (select bool_and(as_of between now() - interval '1 minute' and now()
              and finished_at between now() - interval '1 minute' and now())
            from messenger.chat_provision_runs) as runs,
         (select bool_and(joined_at between now() - interval '1 minute' and now())
            from messenger.participants) as participants`,
      [failing.dealId],
    )
    expect(times).toEqual({
      backoff: true,
      updated: true,
      events: true,
      runs: true,
      participants: true,
    })
    // The event's own time is the database's too.
    const { value } = JSON.parse(lines[0] ?? '') as { value: string }
    const { OccurredAt } = JSON.parse(value) as { OccurredAt: string }
    expect(Math.abs(Date.parse(OccurredAt) - Date.now())).toBeLessThan(60_000)
  })

  it.each([
    ['forward', 300_000],
    ['back', -300_000],
  ])('and jumps %s while it serves: the cycles keep their beat', async (_, jumpMs) => {
    const cli = startCli(['serve'], {
      DATABASE_URL: database().url,
      OUTBOX_RELAY: 'stdout',
      HTTP_PORT: '0',
      CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
      NODE_OPTIONS: shiftedClock,
      CLOCK_JUMP_MS: String(jumpMs),
    })
    try {
      const { address } = await cli.logged('http listening')
      const cycles = (): number =>
        cli.log().filter((line) => line['event'] === 'cycle completed').length
      for (let jump = 1; jump <= 2; jump += 1) {
        cli.child.kill('SIGCONT')
        await waitFor(
          'the jump',
          () => cli.log().filter((line) => line['event'] === 'clock jumped').length === jump,
        )
        const [before, since] = [cycles(), performance.now()]
        const deal = await seedDeal(database().admin)
        await waitFor('the deal to be Ready', async () => {
          return (await dealState(database().admin, deal.dealId)).status === 'Ready'
        })
        await waitFor('more cycles', () => cycles() >= before + 3)
        // Made up for, five minutes would be 1500 cycles; lines of the log may come late.
        const beats = (performance.now() - since) / 200
        expect(cycles() - before).toBeLessThan(2 * beats + 10)
        expect((await fetch(`${String(address)}/healthz`)).status).toBe(200)
      }
    } finally {
      cli.child.kill('SIGTERM')
      expect(await cli.exited).toBe(0)
    }
  })
})
