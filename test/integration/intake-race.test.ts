/** The race between the worker and the real intake, both ways round, and between two intakes. */

import { afterEach, describe, expect, it } from 'vitest'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { dealCreated, handlerName, useTestHandlers } from './intake-fixtures.js'

const database = useTestDatabase()
const newHandler = useTestHandlers(database)
const newJob = useTestJobs(database)

const byTheIntake = { ...readyDeal, attempts: 0 }
const rivals: Rival[] = []
afterEach(async () => {
  for (const rival of rivals.splice(0)) await rival.rollback().catch(() => undefined)
})

/** Whoever makes the deal's chat waits in the middle of its transaction until the rival ends. */
async function holdUp(dealId: string): Promise<Rival> {
  const rival = await Rival.begin(database().adminUrl)
  rivals.push(rival)
  await rival.insertChat(dealId)
  return rival
}

async function end(rival: Rival, how: 'commit' | 'rollback'): Promise<void> {
  rivals.splice(rivals.indexOf(rival), 1)
  await rival[how]()
}

describe('the intake comes first', () => {
  it('and the worker does not see its deal until it is Ready, out of selection', async () => {
    const message = dealCreated()
    const rival = await holdUp(message.dealId)
    const taking = newHandler().take(message)
    await untilBlocked(database(), handlerName)

    const job = newJob({ retry: { stuckProvisioningAfterMs: 1 } })
    const during = await job.cycle()
    await end(rival, 'rollback')
    expect(await taking).toBe(true)
    const after = await job.cycle()

    expect(during).toMatchObject({ outcome: 'completed', claimed: 0, skipped: 0 })
    expect(after).toMatchObject({ outcome: 'completed', claimed: 0, skipped: 0 })
    expect(await dealState(database().admin, message.dealId)).toMatchObject(byTheIntake)
  })

  it('and a chat that a rival commits meanwhile is adopted, not doubled', async () => {
    const message = dealCreated()
    const rival = await holdUp(message.dealId)
    const taking = newHandler().take(message)
    await untilBlocked(database(), handlerName)
    await end(rival, 'commit')
    expect(await taking).toBe(true)
    expect(await dealState(database().admin, message.dealId)).toMatchObject(byTheIntake)
  })

  it('and fails: the worker takes the row in its next cycle, redelivered or not', async () => {
    const message = dealCreated()
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(message.dealId, { status: 'Archived' })
    await rival.commit()
    const handler = newHandler()
    await handler.take(message)
    await database().query(`update messenger.chats set status = 'Active'`)

    const [, summary] = await Promise.all([handler.take(message), newJob().cycle()])
    await handler.take(message)

    expect(summary).toMatchObject({ provisioned: 1 })
    expect(await dealState(database().admin, message.dealId)).toMatchObject(readyDeal)
  })
})

describe('the worker comes first', () => {
  it('and a message that comes again neither waits for the row nor touches it', async () => {
    const deal = await seedDeal(database().admin)
    const rival = await holdUp(deal.dealId)
    const running = newJob().cycle()
    await untilBlocked(database(), 'chat-provision-retry')

    expect(await newHandler().take(dealCreated({ dealId: deal.dealId }))).toBe(true)
    await end(rival, 'rollback')

    expect(await running).toMatchObject({ provisioned: 1, skipped: 0 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
  })

  it('and the intake and many cycles at once make one chat and one event per deal', async () => {
    const messages = Array.from({ length: 40 }, (_, n) =>
      dealCreated(n % 4 === 0 ? { members: [] } : {}),
    )
    const handlers = [newHandler(), newHandler()]
    const job = newJob({ retry: { stuckProvisioningAfterMs: 1, maxAttempts: 100 } })
    const taken = new AbortController()
    const cycles = (async () => {
      while (!taken.signal.aborted) await job.cycle()
    })()
    // Each message twice and from both sides, as after a rebalance that was noticed late.
    await Promise.all(
      handlers.map(async (handler) => {
        for (const message of messages) expect(await handler.take(message)).toBe(true)
      }),
    )
    taken.abort()
    await cycles
    const states = await Promise.all(
      messages.map(({ dealId }) => dealState(database().admin, dealId)),
    )
    for (const [n, state] of states.entries()) {
      if (n % 4 === 0) expect(state).toMatchObject({ status: 'Failed', chats: 0, events: [] })
      else expect(state).toMatchObject(byTheIntake)
    }
  })
})

describe('two intakes with one message', () => {
  it('the second waits for the first, and finds the deal known', async () => {
    const message = dealCreated()
    const rival = await holdUp(message.dealId)
    const first = newHandler()
    const second = newHandler()
    const taking = [first.take(message)]
    await untilBlocked(database(), handlerName)
    taking.push(second.take(message))
    await waitFor('both to wait', async () => (await blocked()).length === 2)
    await end(rival, 'rollback')

    expect(await Promise.all(taking)).toEqual([true, true])
    expect(await dealState(database().admin, message.dealId)).toMatchObject(byTheIntake)
    expect([first.counted.events, second.counted.events].toSorted()).toEqual([0, 1])
  })

  it('the first is lost in the middle: nothing of it stays, the second makes the chat', async () => {
    const message = dealCreated()
    const rival = await holdUp(message.dealId)
    const dying = newHandler()
    const stop = new AbortController()
    const taking = dying.handle(message, stop.signal)
    await untilBlocked(database(), handlerName)
    stop.abort()
    for (const pid of await blocked()) {
      await database().query('select pg_terminate_backend($1)', [pid])
    }
    expect(await taking).toBe(false)
    await end(rival, 'rollback')
    expect(await database().query('select id from messenger.deal_chat_provisions')).toEqual([])

    expect(await newHandler().take(message)).toBe(true)
    expect(await dealState(database().admin, message.dealId)).toMatchObject(byTheIntake)
  })
})

/** Backends of the intake that wait for a lock. */
async function blocked(): Promise<number[]> {
  const rows = await database().query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database()
       and application_name = $1 and wait_event_type = 'Lock'`,
    [handlerName],
  )
  return rows.map(({ pid }) => pid)
}
