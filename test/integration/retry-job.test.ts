/** The scenarios that the job was specified by, each by its name, on a real PostgreSQL. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dealState, readyDeal as ready, seedDeal, threeMembers } from '../support/deals.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestJobs } from '../support/job.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

describe('the retry job', () => {
  it('empty batch: changes nothing but its run record', async () => {
    const done = await seedDeal(database().admin)
    await newJob().cycle()
    const before = await dealState(database().admin, done.dealId)

    const summary = await newJob().cycle()

    expect(summary).toMatchObject({ outcome: 'completed', claimed: 0, provisioned: 0, skipped: 0 })
    expect(await dealState(database().admin, done.dealId)).toEqual(before)
    const runs = await database().query(
      'select outcome, claimed from messenger.chat_provision_runs order by started_at',
    )
    expect(runs).toEqual([
      { outcome: 'completed', claimed: 1 },
      { outcome: 'completed', claimed: 0 },
    ])
  })

  it('failed consumer, then retry: chat, participants, feed row, Ready and its event', async () => {
    const deal = await seedDeal(database().admin, { tenantId: randomUUID() })
    const job = newJob()

    const summary = await job.cycle()

    expect(summary).toMatchObject({
      outcome: 'completed',
      reason: null,
      claimed: 1,
      provisioned: 1,
    })
    const state = await dealState(database().admin, deal.dealId)
    expect(state).toMatchObject(ready)
    const [chat] = await database().query(
      `select c.id, c.kind, c.status, c.title, c.deal_tenant_id = p.deal_tenant_id as same_tenant,
         e.actor, e.correlation_id, o.correlation_id as event_correlation_id
       from messenger.chats c join messenger.deal_chat_provisions p on p.chat_id = c.id
       join messenger.chat_events e on e.chat_id = c.id
       join messenger.outbox_events o on o.aggregate_id = p.deal_id`,
    )
    expect(chat).toEqual({
      id: state.chatId,
      kind: 'Deal',
      status: 'Active',
      title: 'Объект №7, ЖК «Север»',
      same_tenant: true,
      actor: 'System',
      correlation_id: summary.jobRunId,
      event_correlation_id: summary.jobRunId,
    })
    expect(job.counted).toEqual({ retried: 0, succeeded: 1, poison: 0, cycles: 1 })
  })

  it('stuck Provisioning: older than StuckProvisioningAfter is finished, younger is left', async () => {
    const stuck = await seedDeal(database().admin, { status: 'Provisioning', age: '6 minutes' })
    const young = await seedDeal(database().admin, { status: 'Provisioning', age: '4 minutes' })

    await newJob().cycle()

    expect(await dealState(database().admin, stuck.dealId)).toMatchObject(ready)
    expect(await dealState(database().admin, young.dealId)).toMatchObject({
      status: 'Provisioning',
      attempts: 0,
      chats: 0,
      events: [],
    })
  })

  it('idempotence: an existing chat is completed, never doubled, and Ready is said again', async () => {
    const members = threeMembers()
    const deal = await seedDeal(database().admin, { members })
    await newJob().cycle()
    const first = await dealState(database().admin, deal.dealId)
    await database().query(
      `update messenger.participants set left_at = now(), role = 'Guest' where user_id = $1`,
      [members[0]?.userId],
    )
    await database().query('delete from messenger.participants where user_id = $1', [
      members[1]?.userId,
    ])
    await database().query(
      `update messenger.participants set role = 'Moderator' where user_id = $1`,
      [members[2]?.userId],
    )
    await database().query('delete from messenger.chat_events')
    await database().query(
      `update messenger.deal_chat_provisions
       set status = 'Failed', next_attempt_at = now() - interval '1 minute'`,
    )

    await newJob().cycle()

    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...ready,
      attempts: 2,
      chatId: first.chatId,
      events: ['Ready', 'Ready'],
    })
    const roles = await database().query<{ user_id: string; role: string }>(
      'select user_id, role from messenger.participants',
    )
    // Who left comes back with the role kept, who is there is not changed.
    expect(new Map(roles.map((row) => [row.user_id, row.role]))).toEqual(
      new Map([
        [members[0]?.userId, 'Guest'],
        [members[1]?.userId, 'Member'],
        [members[2]?.userId, 'Moderator'],
      ]),
    )
  })

  it('poison: the last attempt ends Failed, with its event and alert, out of selection', async () => {
    const deal = await seedDeal(database().admin, { title: ' \u00a0 ', attempts: 8 })
    const job = newJob()

    expect(await job.cycle()).toMatchObject({ retried: 1, failed: 0 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      status: 'Failed',
      attempts: 9,
      backedOff: true,
      lastError: 'guard:TITLE_BLANK',
      events: [],
    })
    await database().query(`update messenger.deal_chat_provisions set next_attempt_at = now()`)
    expect(await job.cycle()).toMatchObject({ claimed: 1, retried: 0, failed: 1 })
    await database().query(`update messenger.deal_chat_provisions set next_attempt_at = now()`)
    expect(await job.cycle()).toMatchObject({ claimed: 0 })

    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      status: 'Failed',
      attempts: 10,
      lastError: 'guard:TITLE_BLANK',
      chats: 0,
      events: ['Failed'],
    })
    expect(job.counted).toMatchObject({ retried: 1, poison: 1 })
    expect(job.lines.filter((line) => line['event'] === 'provision failed')).toMatchObject([
      { level: 50, dealId: deal.dealId, poison: true, errorCode: 'TITLE_BLANK' },
    ])
  })

  it('parallel instances: one runs, the other is skipped and writes no run record', async () => {
    const deal = await seedDeal(database().admin)
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(deal.dealId)
    const [a, b] = [newJob(), newJob()]

    const running = a.cycle()
    await untilBlocked(database(), 'chat-provision-retry')
    const skipped = await b.cycle()
    await rival.rollback()
    const ran = await running

    expect(skipped).toMatchObject({ outcome: 'skipped', asOf: null, claimed: 0 })
    expect(skipped.reason).toMatch(
      /^the run lock is held by chat-provision-retry run lock \(pid \d+/,
    )
    expect(b.lines).toMatchObject([{ event: 'cycle skipped', reason: skipped.reason }])
    expect(ran).toMatchObject({ outcome: 'completed', provisioned: 1 })
    expect(await database().query('select outcome from messenger.chat_provision_runs')).toEqual([
      { outcome: 'completed' },
    ])
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(ready)
  })

  it('cancellation: the row under way is committed whole, the rest is left, the lock is free', async () => {
    const first = await seedDeal(database().admin, { age: '20 minutes' })
    const second = await seedDeal(database().admin, { age: '10 minutes' })
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(first.dealId)
    const stop = new AbortController()

    const running = newJob({ retry: { concurrency: 1 } }).runCycle(stop.signal)
    await untilBlocked(database(), 'chat-provision-retry')
    stop.abort()
    await holdUp.rollback()

    expect(await running).toMatchObject({ outcome: 'stopped', claimed: 1, provisioned: 1 })
    expect(await dealState(database().admin, first.dealId)).toMatchObject(ready)
    expect(await dealState(database().admin, second.dealId)).toMatchObject({
      status: 'Failed',
      attempts: 0,
      chats: 0,
      events: [],
    })
    expect(await newJob().cycle()).toMatchObject({ outcome: 'completed', provisioned: 1 })
  })
})
