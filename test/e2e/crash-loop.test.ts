/** Workers that die or freeze in the middle of a row, as processes of their own. */

import { afterEach, describe, expect, it } from 'vitest'
import { startCli, runCli, type RunningCli } from '../support/cli.js'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()
const running: RunningCli[] = []

afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.child.kill('SIGKILL')
    await cli.exited
  }
})

function options(): Record<string, string> {
  return {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'off',
    CHAT_PROVISION_RETRY_MAX_ATTEMPTS: '3',
    CHAT_PROVISION_RETRY_STUCK_PROVISIONING_AFTER: '100ms',
    CHAT_PROVISION_RETRY_BACKOFF_BASE: '100ms',
    CHAT_PROVISION_RETRY_BACKOFF_CAP: '100ms',
    CHAT_PROVISION_RETRY_POLLING_INTERVAL: '200ms',
    CHAT_PROVISION_RETRY_CONCURRENCY: '1',
    HTTP_PORT: '0',
  }
}

function start(args: string[], extra: Record<string, string> = {}): RunningCli {
  const cli = startCli(args, { ...options(), ...extra })
  running.push(cli)
  return cli
}

describe('a row whose work kills the process', () => {
  it('reaches its last attempt, is closed as poison, and holds nobody up', async () => {
    const killer = await seedDeal(database().admin, { age: '20 minutes' })
    const good = await seedDeal(database().admin, { age: '10 minutes' })
    // Whoever works on the killer's chat waits here, and is killed as soon as it does.
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(killer.dealId)

    let deaths = 0
    for (;;) {
      const worker = start(['run-once', '--json'])
      const blocked = untilBlocked(database(), 'chat-provision-retry').then(() => 'blocked')
      const end = await Promise.race([blocked, worker.exited])
      if (end === 'blocked') {
        worker.child.kill('SIGKILL')
        await worker.exited
        deaths += 1
        await endOrphan()
        await untilDue(killer.dealId)
      } else {
        expect(end).toBe(0)
        blocked.catch(() => undefined)
        break
      }
    }
    await rival.rollback()

    // The first death is not on record yet; from then on each one counts.
    expect(deaths).toBe(1 + 3)
    expect(await dealState(database().admin, killer.dealId)).toMatchObject({
      status: 'Failed',
      attempts: 3,
      lastError: 'crash:WORKER_DIED',
      chats: 0,
      events: ['Failed'],
    })
    expect(await dealState(database().admin, good.dealId)).toMatchObject(readyDeal)
  }, 120_000)
})

describe('L6: a worker frozen in the middle of a row', () => {
  it('another instance finishes the row within 60 s; the frozen one changes nothing more', async () => {
    const deal = await seedDeal(database().admin)
    const timing = {
      CHAT_PROVISION_RETRY_MAX_RUN_DURATION: '10s',
      CHAT_PROVISION_RETRY_LOCK_TTL: '20s',
      CHAT_PROVISION_RETRY_MAX_ATTEMPTS: '10',
    }
    // The deal has a chat, so the row is done step by step; the step of its feed row has to wait.
    const earlier = await Rival.begin(database().adminUrl)
    await earlier.insertChat(deal.dealId)
    await earlier.commit()
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertFeedRow(deal.dealId)
    const frozen = start(['serve'], timing)
    await untilBlocked(database(), 'chat-provision-retry')
    frozen.child.kill('SIGSTOP')
    await holdUp.rollback()
    const frozenAt = Date.now()

    const other = start(['serve'], timing)
    const state = await waitFor(
      'the other instance to finish the row',
      async () => {
        const now = await dealState(database().admin, deal.dealId)
        return now.status === 'Ready' ? now : undefined
      },
      { timeoutMs: 60_000 },
    )
    expect(Date.now() - frozenAt).toBeLessThan(60_000)
    expect(state.events).toEqual(['Ready'])

    frozen.child.kill('SIGCONT')
    await frozen.logged('provision untouched')
    await frozen.logged('cycle aborted')
    const end = other.logged('chat provisioned')
    frozen.child.kill('SIGTERM')
    expect(await frozen.exited).toBe(0)
    await end
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...readyDeal,
      attempts: state.attempts,
      chatId: state.chatId,
    })
  }, 120_000)
})

describe('L6: a worker frozen while its one statement runs', () => {
  it('has the row done by the server, and does nothing more when it goes on', async () => {
    const deal = await seedDeal(database().admin)
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(deal.dealId)
    const frozen = start(['run-once', '--json'], {})
    await untilBlocked(database(), 'chat-provision-retry')
    frozen.child.kill('SIGSTOP')
    await holdUp.rollback()
    await waitFor('the server to finish the statement', async () => {
      return (await dealState(database().admin, deal.dealId)).status === 'Ready'
    })
    frozen.child.kill('SIGCONT')
    expect(await frozen.exited).toBe(0)
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
  }, 60_000)
})

describe('Q4: the outcome write is stalled past its time limit', () => {
  it('no second chat, participant, feed row or event', async () => {
    const deal = await seedDeal(database().admin)
    // The outbox is the last write of the transaction: it waits longer than lock_timeout allows.
    const rival = await Rival.begin(database().adminUrl)
    await rival.query('lock table messenger.outbox_events in exclusive mode')
    const worker = start(['run-once', '--json'], { CHAT_PROVISION_RETRY_MAX_ATTEMPTS: '10' })
    await untilBlocked(database(), 'chat-provision-retry')
    await waitFor('the first try to be given up', async () => {
      const rows = await database().query(
        `select 1 from pg_stat_activity where datname = current_database()
           and application_name = 'chat-provision-retry' and wait_event_type = 'Lock'
           and query_start < clock_timestamp() - interval '4500 milliseconds'`,
      )
      return rows.length > 0
    })
    await waitFor('another try', async () => {
      const rows = await database().query(
        `select 1 from pg_stat_activity where datname = current_database()
           and application_name = 'chat-provision-retry' and wait_event_type = 'Lock'
           and query_start > clock_timestamp() - interval '2 seconds'`,
      )
      return rows.length > 0
    })
    await rival.rollback()
    expect(await worker.exited).toBe(0)
    expect(JSON.parse(worker.stdout())).toMatchObject({ provisioned: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
    expect(await runCli(['run-once', '--json'], options())).toMatchObject({ exitCode: 0 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
  }, 60_000)
})

/** While it waits for a lock the server doesn't look whether its client is still there. */
async function endOrphan(): Promise<void> {
  await database().query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'chat-provision-retry'`,
  )
  await waitFor('the dead worker’s session to be gone', async () => {
    const rows = await database().query(
      `select 1 from pg_stat_activity
       where datname = current_database() and application_name = 'chat-provision-retry'`,
    )
    return rows.length === 0
  })
}

/** Backed off, or stuck for not long enough: wait until the database would give it out again. */
async function untilDue(dealId: string): Promise<void> {
  await waitFor('the row to be due again', async () => {
    const rows = await database().query(
      `select 1 from messenger.deal_chat_provisions where deal_id = $1
         and next_attempt_at <= clock_timestamp()
         and (status = 'Failed' or updated_at <= clock_timestamp() - interval '100 milliseconds')`,
      [dealId],
    )
    return rows.length > 0
  })
}
