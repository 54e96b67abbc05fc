/** Triggers that an adopter's tables may carry: what is done beside them, and what is left undone. */

import { describe, expect, it } from 'vitest'
import { dealState, readyDeal, seedDeal } from '../support/deals.js'
import { useTestJobs } from '../support/job.js'
import { Rival } from '../support/rival.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const newJob = useTestJobs(database)

/** A function of this body, fired as said, for the time of the work. */
async function withTrigger(when: string, body: string, work: () => Promise<void>): Promise<void> {
  await database().query(
    `create function meddle() returns trigger language plpgsql as $$ begin ${body} end $$`,
  )
  await database().query(`create trigger meddle ${when} execute function meddle()`)
  try {
    await work()
  } finally {
    await database().query('drop function meddle() cascade')
  }
}

describe('beside the triggers of an adopter', () => {
  const refused = {
    status: 'Failed',
    attempts: 1,
    chats: 0,
    participants: 0,
    feedRows: 0,
    events: [],
  }

  it.each([
    [
      'one that adds a participant',
      `insert into messenger.participants (id, chat_id, user_id, role)
         select gen_random_uuid(), new.id, m.user_id, 'Owner'
         from messenger.deal_chat_provision_members m
         join messenger.deal_chat_provisions p on p.id = m.provision_id
         where p.deal_id = new.deal_id limit 1;
       return null;`,
    ],
    [
      'one that writes the feed row',
      `insert into messenger.chat_events (id, chat_id, type, actor)
         values (gen_random_uuid(), new.id, 'DealChatProvisioned', 'Trigger');
       return null;`,
    ],
    [
      'one that touches the deal’s row',
      `update messenger.deal_chat_provisions set title = title where deal_id = new.deal_id;
       return null;`,
    ],
  ])('%s, the row gets done', async (_, body) => {
    const { dealId } = await seedDeal(database().admin)
    await withTrigger('after insert on messenger.chats for each row', body, async () => {
      expect(await newJob().cycle()).toMatchObject({ provisioned: 1, retried: 0 })
    })
    expect(await dealState(database().admin, dealId)).toMatchObject(readyDeal)
  })

  it('one that lets no chat be made, a deal that has its chat gets done', async () => {
    const { dealId } = await seedDeal(database().admin)
    const rival = await Rival.begin(database().adminUrl)
    await rival.insertChat(dealId)
    await rival.commit()
    const body = `raise exception 'no new chats today';`
    await withTrigger('before insert on messenger.chats for each statement', body, async () => {
      expect(await newJob().cycle()).toMatchObject({ provisioned: 1, retried: 0 })
    })
    expect(await dealState(database().admin, dealId)).toMatchObject(readyDeal)
  })

  it('one that gives the chat another id, nobody is told a wrong one', async () => {
    const { dealId } = await seedDeal(database().admin)
    const body = 'new.id := gen_random_uuid(); return new;'
    await withTrigger('before insert on messenger.chats for each row', body, async () => {
      expect(await newJob().cycle()).toMatchObject({ provisioned: 0, retried: 1 })
    })
    expect(await dealState(database().admin, dealId)).toMatchObject(refused)
  })

  it('one that keeps the event out of the outbox, all is undone', async () => {
    const { dealId } = await seedDeal(database().admin)
    await withTrigger(
      'before insert on messenger.outbox_events for each row',
      'return null;',
      async () => {
        expect(await newJob().cycle()).toMatchObject({ provisioned: 0, retried: 1 })
      },
    )
    expect(await dealState(database().admin, dealId)).toMatchObject({
      ...refused,
      lastError: 'bug:ContractViolation',
    })
  })

  it('one that keeps the row from being written, no event goes out', async () => {
    const { dealId } = await seedDeal(database().admin)
    await withTrigger(
      'before update on messenger.deal_chat_provisions for each row',
      'return null;',
      async () => {
        expect(await newJob().cycle()).toMatchObject({ provisioned: 0, retried: 0 })
      },
    )
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...refused, attempts: 0 })
  })
})
