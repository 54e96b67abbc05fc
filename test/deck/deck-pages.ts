/** Every page of The Deck, with something on it: what holds for all of them is tested on each. */

import { randomUUID } from 'node:crypto'
import { seedDeal } from '../support/deals.js'
import type { TestDatabase } from '../support/test-database.js'

export interface DeckPage {
  /** Of its screenshots. */
  readonly name: string
  /** Below /deck. */
  readonly path: string
}

/** Titles are typed by strangers. */
export const hostileTitle = '<img src=x onerror="document.title=1"></td><script>alert(1)</script>'
const longError = `data:${'X'.repeat(500)}`

/** Deals in every state, with long and hostile texts; returns where to look. */
export async function seedDeckPages(database: TestDatabase): Promise<readonly DeckPage[]> {
  const { admin, query } = database
  const dealIds: string[] = []
  for (let i = 0; i < 60; i++) {
    const title = i % 3 === 0 ? hostileTitle : `Объект №${i}, ЖК «Север»`
    const tenantId = randomUUID()
    const { dealId } = await seedDeal(admin, {
      attempts: i % 14,
      title,
      tenantId,
      age: `${i} hours`,
    })
    dealIds.push(dealId)
  }
  const [poison = ''] = dealIds.slice(13)
  await query(
    `update messenger.deal_chat_provisions set last_error =
       case attempts % 3 when 0 then 'guard:TITLE_BLANK' when 1 then $1 else 'contention:40P01' end
     where attempts > 0`,
    [longError],
  )
  await query(
    `update messenger.deal_chat_provisions set status = 'Ready', chat_id = gen_random_uuid()
     where attempts in (2, 5)`,
  )
  await query(
    `insert into messenger.chat_provision_runs (id, started_at, finished_at, outcome, reason, as_of,
       claimed, provisioned, retried, failed, skipped, host)
     select gen_random_uuid(), t, t + interval '1.234 seconds',
       case when i % 17 = 3 then 'aborted' when i % 29 = 5 then 'stopped' else 'completed' end,
       case when i % 17 = 3 then 'the database was lost (57P01)' end,
       t, i % 13, i % 11, i % 5, (i % 31 = 0)::int, 0, 'worker-7f9c6d5b8-x2x4q/1'
     from generate_series(1, 70) i, lateral (select now() - i * interval '1 minute' as t) s`,
  )
  await query(
    `insert into messenger.chat_provision_audit (actor, action, deal_id, filter, reason, affected)
     values ('anna', 'requeue', $1, null, 'the guard was mended', 1),
       ('boris with a very long name that goes on and on', 'reemit', null,
        'status=Failed error=guard: older-than=3d', 'after the outage', 12345),
       ('deck:admin', 'queue-change', null, 'queue operations', 'maintenance', 1)`,
    [poison],
  )
  const chosen = `deal=${poison}&deal=${dealIds[2] ?? ''}&deal=${dealIds[7] ?? ''}`
  return [
    { name: 'overview', path: '' },
    { name: 'provisions', path: '/provisions' },
    { name: 'provisions-none', path: '/provisions?tenant=0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00' },
    { name: 'provisions-fault', path: '/provisions?state=Failed&olderThan=yesterday' },
    { name: 'requeue', path: `/provisions/requeue?${chosen}` },
    { name: 'runs', path: '/runs' },
    { name: 'settings', path: '/settings' },
    { name: 'not-found', path: '/nowhere' },
  ]
}
