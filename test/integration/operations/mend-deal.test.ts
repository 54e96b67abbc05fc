/** Mending by reconcile: dry, beside others, and half way. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { seedDeal } from '../../support/deals.js'
import { Rival, untilBlocked } from '../../support/rival.js'
import { useTestDatabase } from '../../support/test-database.js'
import { anna, auditLines } from './operator-fixtures.js'
import { losses, useReconcile } from './reconcile-fixtures.js'

const database = useTestDatabase()
const { newJob, reconcile, seedReady, spoil, state } = useReconcile(database)

describe('mending', () => {
  it('as a dry run changes nothing', async () => {
    const deal = await seedReady()
    await losses['the feed row'](spoil, deal)
    const seen = await reconcile({ mend: 'dry run' })
    expect(seen).toMatchObject({ found: 1, affected: 0 })
    expect(await state(deal)).toMatchObject({ feedRows: 0 })
    expect(await auditLines(database())).toEqual([])
  })

  it('waits for who holds the row, and finds it in order', async () => {
    const deal = await seedReady()
    await losses['its event'](spoil, deal)
    const rival = await Rival.begin(database().adminUrl)
    await rival.lockDeal(deal.dealId)
    const mending = reconcile({ mend: anna }, 'mender')
    await untilBlocked(database(), 'mender')
    await rival.query(
      `insert into messenger.outbox_events
         (id, aggregate_type, aggregate_id, type, topic, contract_version, payload)
       select gen_random_uuid(), 'DealChatProvision', p.deal_id, 'DealChatStatusChanged',
         'pin.messenger.deal-chat-status-changed.v1', 1,
         json_build_object('DealId', p.deal_id, 'ChatId', p.chat_id, 'Status', 'Ready')
       from messenger.deal_chat_provisions p where p.deal_id = $1`,
      [deal.dealId],
    )
    await rival.commit()
    expect((await mending).findings).toMatchObject([{ outcome: 'settled' }])
    expect((await state(deal)).events).toEqual(['Ready'])
  })

  it('of a deal that is unknown says so', async () => {
    const unknown = randomUUID()
    const { examined, refused } = await reconcile({ targets: { dealIds: [unknown] } })
    expect(examined).toBe(0)
    expect(refused).toMatchObject([{ dealId: unknown }])
  })

  it('stopped half way goes on, over more deals than one batch', async () => {
    for (let n = 0; n < 210; n += 1)
      await seedDeal(database().admin, { members: [{ userId: randomUUID(), role: 'Owner' }] })
    await newJob().cycle()
    await sql`truncate messenger.outbox_events`.execute(database().admin)
    const stop = new AbortController()
    const onProgress = (done: number) => {
      if (done === 100) stop.abort()
    }
    const first = await reconcile({ mend: anna, signal: stop.signal, onProgress })
    expect(first).toMatchObject({ affected: 100, stopped: true })
    expect(await reconcile({ mend: anna })).toMatchObject({ examined: 210, affected: 110 })
    const [counts] = await database().query<{ events: number; deals: number }>(
      `select count(*)::int as events, count(distinct aggregate_id)::int as deals
       from messenger.outbox_events`,
    )
    expect(counts).toEqual({ events: 210, deals: 210 })
  })
})
