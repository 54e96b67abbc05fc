/** The race between the worker and the deal-created consumer, both ways round. */

import { describe, expect, it } from 'vitest'
import { referenceChats } from '../../src/provisioning/reference-chats.js'
import { dealState, readyDeal as ready, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { Rival, untilBlocked } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

/** In one statement there is one snapshot: what is checked is what is written. */
const stepwise = { ...referenceChats, creation: undefined }

describe('race with the consumer', () => {
  it('a row that the consumer holds is left, and once Ready it is out of selection', async () => {
    const deal = await seedDeal(database().admin)
    const consumer = await Rival.begin(database().adminUrl)
    await consumer.provision(deal.dealId)

    const during = await newJob().cycle()
    await consumer.commit()
    const after = await newJob().cycle()

    expect(during).toMatchObject({ outcome: 'completed', claimed: 0, skipped: 1 })
    expect(after).toMatchObject({ outcome: 'completed', claimed: 0, skipped: 0 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...ready,
      attempts: 0,
    })
  })

  it('Ready between the reading and the locking: the row is left alone', async () => {
    const first = await seedDeal(database().admin, { age: '20 minutes' })
    const second = await seedDeal(database().admin, { age: '10 minutes' })
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(first.dealId)

    const running = newJob({ retry: { concurrency: 1 } }).cycle()
    await untilBlocked(database(), 'chat-provision-retry')
    const consumer = await Rival.begin(database().adminUrl)
    await consumer.provision(second.dealId)
    await consumer.commit()
    await holdUp.rollback()

    expect(await running).toMatchObject({ claimed: 1, provisioned: 1, skipped: 1 })
    expect(await dealState(database().admin, second.dealId)).toMatchObject({
      ...ready,
      attempts: 0,
    })
  })

  it('a consumer that comes while the worker holds the row waits, and finds it Ready', async () => {
    const deal = await seedDeal(database().admin)
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(deal.dealId)
    const running = newJob().cycle()
    await untilBlocked(database(), 'chat-provision-retry')

    const consumer = await Rival.begin(database().adminUrl)
    const locking = consumer.lockDeal(deal.dealId)
    await untilBlocked(database(), 'rival')
    await holdUp.rollback()
    await Promise.all([running, locking])
    const seen = await consumer.query('select status from messenger.deal_chat_provisions')
    await consumer.commit()

    expect(seen).toEqual([{ status: 'Ready' }])
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(ready)
  })

  it('a chat that a rival commits during the attempt is adopted, not doubled', async () => {
    const deal = await seedDeal(database().admin)
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(deal.dealId)

    const running = newJob().cycle()
    await untilBlocked(database(), 'chat-provision-retry')
    await rival.commit()

    expect(await running).toMatchObject({ provisioned: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(ready)
  })
})

describe('the list of members changes while a row is done step by step', () => {
  it.each([
    [
      'a member of an unknown role comes',
      `insert into messenger.deal_chat_provision_members select id, gen_random_uuid(), 'Auditor'
         from messenger.deal_chat_provisions`,
      'guard:ROLE_UNKNOWN',
    ],
    [
      'all members are taken away',
      'delete from messenger.deal_chat_provision_members',
      'guard:NO_MEMBERS',
    ],
  ])('%s: rejected, and the work is undone', async (_, change, lastError) => {
    const deal = await seedDeal(database().admin)
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(deal.dealId)
    const running = newJob({ chats: stepwise }).cycle()
    await untilBlocked(database(), 'chat-provision-retry')
    await database().query(change)
    await holdUp.rollback()

    expect(await running).toMatchObject({ provisioned: 0, retried: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      status: 'Failed',
      attempts: 1,
      lastError,
      chats: 0,
      feedRows: 0,
      events: [],
    })
  })

  it('a member that comes is in the chat', async () => {
    const deal = await seedDeal(database().admin)
    const holdUp = await Rival.begin(database().adminUrl)
    await holdUp.insertChat(deal.dealId)
    const running = newJob({ chats: stepwise }).cycle()
    await untilBlocked(database(), 'chat-provision-retry')
    await database().query(
      `insert into messenger.deal_chat_provision_members select id, gen_random_uuid(), 'Member'
         from messenger.deal_chat_provisions`,
    )
    await holdUp.rollback()

    expect(await running).toMatchObject({ provisioned: 1 })
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      ...ready,
      participants: 4,
      activeParticipants: 4,
    })
  })
})
