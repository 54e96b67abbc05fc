/** The gauges against prepared rows, each exactly by its definition, and against a frozen database. */

import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load-config.js'
import { createDatabase } from '../../src/postgres/connect.js'
import { createDatabaseLook } from '../../src/telemetry/database-gauges.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
const log = pino({ level: 'silent' })
const maxAttempts = 3

let db: ReturnType<typeof createDatabase>
beforeAll(() => {
  db = createDatabase({
    connectionString: database().url,
    applicationName: 'gauges-test',
    // One session, so that freezing its backend freezes every look.
    max: 1,
    onConnectionLost: () => undefined,
  })
})
afterAll(() => db.destroy())
beforeEach(() =>
  database().query(
    'truncate messenger.deal_chat_provisions, messenger.outbox_events, messenger.chat_provision_runs cascade',
  ),
)

/** A look whose clock the test moves: what is fresh and how old it is depends on nothing else. */
function newLook(relay: 'kafka' | 'off' = 'kafka') {
  const { retry, outbox } = loadConfig(
    {
      CHAT_PROVISION_RETRY_MAX_ATTEMPTS: String(maxAttempts),
      CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: '5m',
      OUTBOX_RELAY: relay,
    },
    { database: false, kafka: false, http: false },
  )
  const metrics = createMetrics({ relay })
  const clock = { ms: 1_000_000 }
  const look = createDatabaseLook({ db, retry, outbox, metrics, log, now: () => clock.ms })
  return { clock, look, render: async () => parse((await metrics.render()).body) }
}

/** Samples without labels; histograms' others aside. */
function parse(text: string): Record<string, number> {
  const samples = text.split('\n').map((line) => /^(messenger_\w+) (\S+)$/.exec(line))
  return Object.fromEntries(samples.flatMap((m) => (m?.[1] ? [[m[1], Number(m[2])]] : [])))
}

async function insertEvent(columns: string, values: string): Promise<void> {
  await database().query(
    `insert into messenger.outbox_events
       (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, ${columns})
     values ($1, 'DealChatProvision', $1, 'DealChatStatusChanged', 't', 1, '{}', ${values})`,
    [randomUUID()],
  )
}

describe('a look', () => {
  it('on an empty database sees nothing', async () => {
    const samples = await newLook().render()
    expect(samples).toMatchObject({
      messenger_chat_provision_failed: 0,
      messenger_chat_provision_oldest_age_seconds: 0,
      messenger_chat_provision_database_look_age_seconds: 0,
    })
  })

  it('counts Failed and stuck rows, poison among them; poison has no age', async () => {
    const seed = (deal: Parameters<typeof seedDeal>[1]) => seedDeal(database().admin, deal)
    await seed({ age: '1 hour' })
    await seed({ age: '2 hours', attempts: maxAttempts - 1 })
    await seed({ age: '3 days', attempts: maxAttempts })
    await seed({ status: 'Provisioning', age: '6 minutes' })
    await seed({ status: 'Provisioning', age: '4 days', attempts: maxAttempts + 1 })
    // Not stuck yet, however old the deal and however often it was tried.
    await seed({ status: 'Provisioning', age: '4 minutes', attempts: maxAttempts })
    await database().query(
      `insert into messenger.deal_chat_provisions (id, deal_id, chat_id, title, status, created_at)
       values ($1, $1, $1, 't', 'Ready', now() - interval '9 days')`,
      [randomUUID()],
    )

    const samples = await newLook().render()

    expect(samples).toMatchObject({
      messenger_chat_provision_failed: 5,
      messenger_chat_provision_poison: 2,
    })
    const age = samples['messenger_chat_provision_oldest_age_seconds'] ?? 0
    expect(age).toBeGreaterThanOrEqual(7_200)
    expect(age).toBeLessThan(7_260)
  })

  it('takes a row from the future for one of this moment', async () => {
    await seedDeal(database().admin, { age: '-1 hour' })
    expect(await newLook().render()).toMatchObject({
      messenger_chat_provision_failed: 1,
      messenger_chat_provision_oldest_age_seconds: 0,
    })
  })

  it('knows the last completed run of any instance', async () => {
    const insert = (started: string, finished: string | null, outcome: string | null) =>
      database().query(
        `insert into messenger.chat_provision_runs (id, started_at, finished_at, outcome, as_of, host)
         values ($1, $2, $3, $4, $2, 'any')`,
        [randomUUID(), started, finished, outcome],
      )
    await insert('2026-01-02T03:00:00Z', '2026-01-02T03:01:00Z', 'completed')
    await insert('2026-01-02T03:04:00Z', '2026-01-02T03:05:00Z', 'completed')
    await insert('2026-01-02T03:06:00Z', '2026-01-02T03:07:00Z', 'aborted')
    await insert('2026-01-02T03:08:00Z', null, null)
    expect(await newLook().render()).toMatchObject({
      messenger_chat_provision_last_run_timestamp_seconds: Date.UTC(2026, 0, 2, 3, 5) / 1_000,
    })
  })

  it('counts what waits for the relay, and apart from it what is parked', async () => {
    await insertEvent('occurred_at', "now() - interval '50 seconds'")
    await insertEvent('occurred_at', "now() - interval '10 seconds'")
    await insertEvent('occurred_at, parked_at', "now() - interval '1 day', now()")
    for (const done of ['published_at', 'superseded_at', 'skipped_at']) {
      await insertEvent(`occurred_at, ${done}`, "now() - interval '2 days', now()")
    }
    await insertEvent('parked_at, skipped_at', 'now(), now()')

    const samples = await newLook().render()

    expect(samples).toMatchObject({ messenger_outbox_backlog: 2, messenger_outbox_parked: 1 })
    const lag = samples['messenger_outbox_publish_lag_seconds'] ?? 0
    expect(lag).toBeGreaterThanOrEqual(50)
    expect(lag).toBeLessThan(70)
  })

  it('with OUTBOX_RELAY=off shows the slot instead of backlog and lag', async () => {
    await insertEvent('occurred_at', 'now()')
    const samples = await newLook('off').render()
    expect(samples).toMatchObject({ messenger_outbox_slots: 0, messenger_outbox_slot_lag_bytes: 0 })
    expect(samples).not.toHaveProperty('messenger_outbox_backlog')
    expect(samples).not.toHaveProperty('messenger_outbox_publish_lag_seconds')
  })

  it('serves for five seconds, then is repeated', async () => {
    const { clock, render } = newLook()
    await render()
    await seedDeal(database().admin)
    clock.ms += 4_999
    expect(await render()).toMatchObject({
      messenger_chat_provision_failed: 0,
      messenger_chat_provision_database_look_age_seconds: 4.999,
    })
    clock.ms += 1
    expect(await render()).toMatchObject({
      messenger_chat_provision_failed: 1,
      messenger_chat_provision_database_look_age_seconds: 0,
    })
  })
})

describe('a database that does not answer', () => {
  const fifty = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 50 }, work))

  it('frozen: 50 scrapes are answered in bounded time, with the last values and their age', async () => {
    await seedDeal(database().admin)
    const { clock, render } = newLook()
    await render()
    const [backend] = await database().query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = 'gauges-test'`,
    )
    const pid = backend?.pid ?? 0
    clock.ms += 30_000
    process.kill(pid, 'SIGSTOP')
    try {
      const started = performance.now()
      for (const samples of await fifty(render)) {
        expect(samples).toMatchObject({
          messenger_chat_provision_failed: 1,
          messenger_chat_provision_database_look_age_seconds: 30,
        })
      }
      expect(performance.now() - started).toBeLessThan(5_000)

      // While that look is still out, nobody waits for it again, nor sends another.
      const again = performance.now()
      await fifty(render)
      expect(performance.now() - again).toBeLessThan(1_000)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await waitFor('the gauges to come back', async () => {
      clock.ms += 5_000
      return (await render())['messenger_chat_provision_database_look_age_seconds'] === 0
    })
  })

  it("behind somebody's lock: the server itself ends the look", async () => {
    const { clock, render } = newLook()
    await render()
    clock.ms += 30_000
    await database()
      .admin.transaction()
      .execute(async (trx) => {
        await trx.schema
          .alterTable('messenger.chat_provision_runs')
          .addColumn('blocker', 'integer')
          .execute()
        const answers = await fifty(render)
        expect(
          new Set(answers.map((a) => a['messenger_chat_provision_database_look_age_seconds'])),
        ).toEqual(new Set([30]))
        throw new Error('undo')
      })
      .catch((error: unknown) => expect(error).toMatchObject({ message: 'undo' }))
    clock.ms += 5_000
    expect(await render()).toMatchObject({ messenger_chat_provision_database_look_age_seconds: 0 })
  })
})
