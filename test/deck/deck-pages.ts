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
  const eventId = await seedEvents(database, poison)
  await seedJobs(database)
  const chosen = `deal=${poison}&deal=${dealIds[2] ?? ''}&deal=${dealIds[7] ?? ''}`
  return [
    { name: 'overview', path: '' },
    { name: 'provisions', path: '/provisions' },
    { name: 'provisions-none', path: '/provisions?tenant=0191f3c2-7d1e-7c55-9a3e-2f4b8d6a1c00' },
    { name: 'provisions-fault', path: '/provisions?state=Failed&olderThan=yesterday' },
    { name: 'requeue', path: `/provisions/requeue?${chosen}` },
    { name: 'provision', path: `/provisions/${poison}` },
    { name: 'reemit', path: `/provisions/reemit?${chosen}` },
    { name: 'reconcile', path: `/provisions/reconcile?${chosen}` },
    { name: 'bulk', path: '/provisions/all/requeue?state=poison' },
    { name: 'outbox', path: '/outbox' },
    { name: 'event', path: `/outbox/${eventId}` },
    { name: 'skip', path: `/outbox/${eventId}/skip` },
    { name: 'jobs', path: '/jobs?place=dlq' },
    { name: 'jobs-none', path: '/jobs?place=archive&queue=nobodys' },
    { name: 'job', path: `/jobs/${deadJob}` },
    { name: 'resurrect', path: `/jobs/${deadJob}/resurrect` },
    { name: 'queues', path: '/queues' },
    { name: 'limit', path: '/queues/operations/limit' },
    { name: 'audit', path: '/audit' },
    { name: 'undo', path: '/audit/1/undo' },
    { name: 'runs', path: '/runs' },
    { name: 'settings', path: '/settings' },
    { name: 'not-found', path: '/nowhere' },
  ]
}

/** Events in every state of one deal; returns a parked one with texts of strangers. */
async function seedEvents({ query }: TestDatabase, dealId: string): Promise<string> {
  const payload = JSON.stringify({ DealId: dealId, Status: 'Failed', Title: hostileTitle })
  const rows = await query<{ id: string }>(
    `insert into messenger.outbox_events (id, aggregate_type, aggregate_id, type, topic,
       contract_version, payload, attempts, last_error, published_at, skipped_at, superseded_at, parked_at)
     select gen_random_uuid(), 'DealChatProvision', $1, 'DealChatStatusChanged', 't', 1, $2, i, $3,
       case i % 5 when 0 then now() end, case i % 5 when 1 then now() end,
       case i % 5 when 2 then now() end, case i % 5 when 3 then now() end
     from generate_series(1, 23) i order by i
     returning id`,
    [dealId, payload, hostileTitle + longError],
  )
  return rows.at(-1)?.id ?? ''
}

const deadJob = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'

/** Dead letters with texts of strangers, live jobs, and a queue that is paused. */
async function seedJobs({ query }: TestDatabase): Promise<void> {
  const payload = JSON.stringify({ filter: { poison: true }, by: 'anna', reason: hostileTitle })
  await query(
    `insert into chokaq.queues (name, paused, max_workers)
     values ('operations', true, 3), ('a queue with a long name that goes on', false, null)`,
  )
  await query(
    `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
       created_by, created_at, reason, details)
     select case i when 1 then $1 else lpad(i::text, 26, '0') end, 'operations',
       'provision.requeue.v1', $2, 10, 4, 3, array['a tag', 'another'], $3, now(), 'FatalError', $3
     from generate_series(1, 5) i`,
    [deadJob, payload, hostileTitle + longError],
  )
  await query(
    `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
     select lpad((100 + i)::text, 26, '0'), 'operations', 'provision.reemit.v1', $1, i
     from generate_series(1, 5) i`,
    [payload],
  )
}
