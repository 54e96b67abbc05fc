/** What must not cost a row its attempts: an outage after a crash, a full disk, an unwritable outcome. */

import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { installChatFaults, setChatFault } from '../../src/demo/chat-faults.js'
import { seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

beforeAll(() => installChatFaults(database().admin))

describe('attempts', () => {
  it('put on record after a crash are given back where the work was not done', async () => {
    await sql`
      insert into messenger.chat_provision_runs (id, as_of, host)
      values (gen_random_uuid(), now(), 'a worker that was killed')`.execute(database().admin)
    const deal = await seedDeal(database().admin, { attempts: 9 })
    const [before] = await database().query('select * from messenger.deal_chat_provisions')
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(deal.dealId)
    const stop = new AbortController()

    const running = newJob().runCycle(stop.signal)
    await untilBlocked(database(), 'chat-provision-retry')
    stop.abort()
    await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'chat-provision-retry'
         and wait_event_type = 'Lock'`,
    )
    expect(await running).toMatchObject({ outcome: 'stopped', retried: 0, failed: 0 })
    await rival.rollback()

    expect(await database().query('select * from messenger.deal_chat_provisions')).toEqual([before])
  })

  it('of a backlog are not burnt by a full disk: the cycle ends early and says why', async () => {
    for (let n = 0; n < 30; n += 1) {
      const { dealId } = await seedDeal(database().admin)
      await setChatFault(database().admin, { dealId, sqlstate: '53100' })
    }
    const summary = await newJob().cycle()
    expect(summary.outcome).toBe('aborted')
    expect(summary.reason).toContain('53100')
    expect(summary.retried).toBeLessThan(10)
  })

  it('that can not be recorded end the cycle, which does not call itself completed', async () => {
    for (let n = 0; n < 30; n += 1) await seedDeal(database().admin)
    await sql`revoke select on messenger.deal_chat_provision_members from chat_provision_retry`.execute(
      database().admin,
    )
    try {
      const summary = await newJob().cycle()
      expect(summary).toMatchObject({ outcome: 'aborted', claimed: 0 })
      expect(summary.reason).toContain('42501')
    } finally {
      await sql`grant select on messenger.deal_chat_provision_members to chat_provision_retry`.execute(
        database().admin,
      )
    }
  })

  it.each([
    ['insert', 'messenger.outbox_events'],
    ['select', 'messenger.chats'],
    ['update (left_at)', 'messenger.participants'],
  ])('are not spent where the role lacks %s on %s: no cycle begins', async (right, table) => {
    const grant = sql.raw(`${right} on ${table}`)
    await sql`revoke ${grant} from chat_provision_retry`.execute(database().admin)
    try {
      await expect(newJob().prepare(new AbortController().signal)).rejects.toMatchObject({
        code: 'NOT_PERMITTED',
        message: expect.stringContaining(`${right.replace(/ .*/, '')} on ${table}`) as unknown,
      })
    } finally {
      await sql`grant ${grant} to chat_provision_retry`.execute(database().admin)
    }
    await newJob().prepare(new AbortController().signal)
  })
})
