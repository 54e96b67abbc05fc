/** Ends in the middle of rows: in order, in a hurry, and at the end of the grace period. */

import { afterEach, describe, expect, it } from 'vitest'
import { startCli, type RunningCli } from '../support/cli.js'
import { dealState, readyDeal, seedDeal, type SeededDeal } from '../support/deals.js'
import { Rival } from '../support/rival.js'
import { startTcpProxy } from '../support/tcp-proxy.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
const running: RunningCli[] = []

/** What each says in its log at the first signal. */
const stopping = { serve: 'service stopping', 'run-once': 'run stopping' } as const

const underWay = 50
const untouched = { status: 'Failed', attempts: 0, chats: 0, feedRows: 0, events: [] } as const

afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.child.kill('SIGKILL')
    await cli.exited
  }
  // With the runs: one that was left open makes the next worker careful.
  await database().query(
    `truncate messenger.deal_chat_provisions, messenger.outbox_events,
       messenger.chat_provision_runs cascade`,
  )
})

function start(command: 'serve' | 'run-once', extra: Record<string, string> = {}): RunningCli {
  const cli = startCli([command], {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'off',
    CHAT_PROVISION_RETRY_CONCURRENCY: String(underWay),
    HTTP_PORT: '0',
    ...extra,
  })
  running.push(cli)
  return cli
}

async function seedMany(count: number): Promise<SeededDeal[]> {
  const deals: SeededDeal[] = []
  for (let n = 0; n < count; n += 1) deals.push(await seedDeal(database().admin))
  return deals
}

/**
 * Two deals whose rows are one statement each, which the server finishes whole though its client has
 * gone, and two that have a chat already and so are done step by step.
 */
async function seedBothWays(): Promise<{ atOnce: SeededDeal[]; byStep: SeededDeal[] }> {
  const [atOnce, byStep] = [await seedMany(2), await seedMany(2)]
  for (const { dealId } of byStep) {
    await database().query(
      `insert into messenger.chats (id, kind, status, deal_id, title)
       values (gen_random_uuid(), 'Deal', 'Active', $1, 'there already')`,
      [dealId],
    )
  }
  return { atOnce, byStep }
}

async function expectWholeOrNotAtAll({
  atOnce,
  byStep,
}: Awaited<ReturnType<typeof seedBothWays>>): Promise<void> {
  for (const end of await states(atOnce)) {
    expect(end).toMatchObject(end.status === 'Ready' ? readyDeal : untouched)
  }
  for (const end of await states(byStep)) {
    expect(end).toMatchObject({ ...untouched, chats: 1, participants: 0 })
  }
}

/** Holds every row up in the middle of its transaction, when its chat is there and its people lack. */
async function holdUp(): Promise<Rival> {
  const rival = await Rival.begin(database().adminUrl)
  await rival.query('lock table messenger.participants in share mode')
  return rival
}

async function untilHeldUp(rows: number): Promise<void> {
  await waitFor(`${rows} rows to be held up in the middle`, async () => {
    const waiting = await database().query(
      `select 1 from pg_stat_activity where datname = current_database()
         and application_name = 'chat-provision-retry' and wait_event_type = 'Lock'`,
    )
    return waiting.length === rows
  })
}

async function untilNobodyIsLeft(): Promise<void> {
  await waitFor('every session and lock of the service to be gone', async () => {
    const [left] = await database().query<{ sessions: number; locks: number }>(
      `select (select count(*)::int from pg_stat_activity where datname = current_database()
           and application_name like 'chat-provision-retry%') as sessions,
         (select count(*)::int from pg_locks where locktype = 'advisory'
           and database = (select oid from pg_database where datname = current_database())) as locks`,
    )
    return left?.sessions === 0 && left.locks === 0
  })
}

async function states(deals: readonly SeededDeal[]) {
  return Promise.all(deals.map(({ dealId }) => dealState(database().admin, dealId)))
}

describe.each(['serve', 'run-once'] as const)('%s', (command) => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'L3, L4: %s while 50 rows are under way: these are finished whole, no other is begun, exit 0',
    async (signal) => {
      const deals = await seedMany(underWay + 10)
      const rival = await holdUp()
      const cli = start(command)
      await untilHeldUp(underWay)
      cli.child.kill(signal)
      await cli.logged(stopping[command])
      await rival.rollback()
      expect(await cli.exited).toBe(0)

      const ends = await states(deals)
      expect(ends.filter(({ status }) => status === 'Ready')).toHaveLength(underWay)
      for (const end of ends) {
        expect(end).toMatchObject(end.status === 'Ready' ? readyDeal : untouched)
      }
      await untilNobodyIsLeft()
      const runs = await database().query(
        'select outcome from messenger.chat_provision_runs order by started_at desc limit 1',
      )
      expect(runs).toEqual([{ outcome: 'stopped' }])
    },
  )

  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('%s, then %s: it ends at once, each row whole or not at all', async (one, two) => {
    const deals = await seedBothWays()
    const rival = await holdUp()
    const cli = start(command)
    await untilHeldUp(4)
    cli.child.kill(one)
    // Two of a kind in one moment would reach the process as one.
    await cli.logged(stopping[command])
    cli.child.kill(two)
    expect(await cli.exited).not.toBe(0)
    // Held up all the while, so nothing but the second signal has ended it.
    await rival.rollback()
    await untilNobodyIsLeft()
    await expectWholeOrNotAtAll(deals)
  })

  it('the grace period ends before the rows do: exit 0 within it, each whole or not at all', async () => {
    const proxy = await startTcpProxy({ target: Number(new URL(database().url).port) })
    const url = new URL(database().url)
    url.port = String(proxy.port)
    const deals = await seedBothWays()
    const rival = await holdUp()
    const cli = start(command, { DATABASE_URL: url.href, SHUTDOWN_GRACE: '2s' })
    await untilHeldUp(4)
    // The server is silent from now on, so not even its own time limits are heard of.
    proxy.pauseResponses()
    const signalledAt = performance.now()
    cli.child.kill('SIGTERM')
    expect(await cli.exited).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(2_000 + 500)
    await rival.rollback()
    await proxy.stop()
    await untilNobodyIsLeft()
    await expectWholeOrNotAtAll(deals)
  })
})
