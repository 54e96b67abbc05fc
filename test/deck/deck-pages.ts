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
/** What of it shows everywhere, long as the texts around it may be. */
export const hostileText = '<img src=x onerror='
/** Where such texts are to be seen, of every kind that there is. */
export const hostilePages = [
  ...['overview', 'provisions', 'provision', 'event', 'outbox', 'intake', 'message'],
  ...['jobs-live', 'job', 'queues', 'audit', 'runs'],
]
const longError = `data:${'X'.repeat(500)}`

/** A row more, or another one, of everything that pages show. */
export async function changeEverything({ admin, query }: TestDatabase): Promise<void> {
  const { dealId } = await seedDeal(admin, { attempts: 11, title: hostileTitle, age: '1 second' })
  await query(
    `insert into messenger.outbox_events (id, aggregate_type, aggregate_id, type, topic,
       contract_version, payload, parked_at)
     values (gen_random_uuid(), 'DealChatProvision', $1, 'DealChatStatusChanged', 't', 1,
       '{"Status":"Failed"}', now())`,
    [dealId],
  )
  // What waited for seconds waits too long: the overview has one more thing to tell.
  await query(
    `update messenger.outbox_events set occurred_at = now() - interval '5 minutes'
     where coalesce(published_at, superseded_at, skipped_at, parked_at) is null`,
  )
  await query(
    `insert into messenger.chat_provision_audit (actor, action, deal_id, reason, affected)
     values ('carl', 'requeue', $1, 'again', 1)`,
    [dealId],
  )
  await query(
    `insert into messenger.chat_provision_runs (id, started_at, finished_at, outcome, as_of,
       claimed, provisioned, host)
     values (gen_random_uuid(), now(), now(), 'completed', now(), 12345, 12345, 'another-host/1')`,
  )
  await query(
    `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
     values (upper(substr(md5(random()::text), 1, 26)), 'operations', 'provision.reemit.v1', '{}', 1)`,
  )
}

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
       case when i % 17 = 3 then 'the database was lost (57P01)' when i = 2 then $1 end,
       t, i % 13, i % 11, i % 5, (i % 31 = 0)::int, 0, 'worker-7f9c6d5b8-x2x4q/1'
     from generate_series(1, 70) i, lateral (select now() - i * interval '1 minute' as t) s`,
    [hostileTitle],
  )
  await query(
    `insert into messenger.chat_provision_audit (actor, action, deal_id, filter, reason, affected)
     values ('anna', 'requeue', $1, null, $2, 1),
       ($2, 'reemit', null, $2, 'after the outage', 7),
       ('boris with a very long name that goes on and on', 'reemit', null,
        'status=Failed error=guard: older-than=3d', 'after the outage', 12345),
       ('deck:admin', 'queue-change', null, 'queue operations', 'maintenance', 1)`,
    [poison, hostileTitle],
  )
  await query(
    `insert into messenger.chat_provision_attempts
       (provision_id, attempt, failed_at, error, duration_ms, next_attempt_at)
     select p.id, n, now() - (14 - n) * interval '20 minutes',
       case when n = 4 then 'crash:WORKER_DIED' when n < 8 then 'guard:NO_MEMBERS' else $2 end,
       case when n = 4 then null else n * 37 end, now() - (13 - n) * interval '20 minutes'
     from messenger.deal_chat_provisions p, generate_series(1, 13) n where p.deal_id = $1 order by n`,
    [poison, hostileTitle + longError.slice(0, 400)],
  )
  const eventId = await seedEvents(database, poison)
  const messageId = await seedMessages(database)
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
    { name: 'outbox-parked', path: '/outbox?state=parked' },
    { name: 'outbox-bulk', path: '/outbox/all/skip' },
    { name: 'intake', path: '/intake' },
    { name: 'message', path: `/intake/${messageId}` },
    { name: 'take-in', path: `/intake/retry?message=${messageId}` },
    { name: 'discard', path: `/intake/discard?message=${messageId}` },
    { name: 'jobs', path: '/jobs?place=dlq' },
    { name: 'jobs-live', path: '/jobs' },
    { name: 'jobs-bulk', path: '/jobs/all/resurrect' },
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

/** Messages that were set aside, one with texts of strangers; returns that one. */
async function seedMessages({ query }: TestDatabase): Promise<string> {
  const rows = await query<{ id: string }>(
    `insert into messenger.intake_parked (id, topic, partition, "offset", key, value, error)
     select gen_random_uuid(), 'pin.crm.deal-created.v1', i % 3, 100000 + i, null,
       case i when 1 then null else convert_to($1, 'UTF8') end,
       case i % 2 when 0 then $2 else 'NOT_JSON' end
     from generate_series(1, 4) i returning id`,
    [`{"Title":${JSON.stringify(hostileTitle)}}`, `SHAPE_INVALID: ${hostileTitle}${longError}`],
  )
  return rows.at(-1)?.id ?? ''
}

const deadJob = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'

/** Dead letters with texts of strangers, live jobs, and a queue that is paused. */
async function seedJobs({ query }: TestDatabase): Promise<void> {
  const payload = JSON.stringify({ filter: { poison: true }, by: 'anna', reason: hostileTitle })
  await query(
    `insert into chokaq.queues (name, paused, max_workers)
     values ('operations', true, 3), ('a queue with a long name that goes on', false, null),
       ($1, false, 7)`,
    [hostileTitle.slice(0, 64)],
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
    `insert into chokaq.jobs_hot (id, queue, type, payload, priority, attempts, last_error)
     select lpad((100 + i)::text, 26, '0'), 'operations', 'provision.reemit.v1', $1, i, i - 1,
       case when i > 1 then $2 end
     from generate_series(1, 5) i`,
    [payload, hostileTitle + longError],
  )
}
