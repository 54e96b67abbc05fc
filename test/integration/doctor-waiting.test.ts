/** `doctor` on what waits for an operator: counted, with the reason, and with what to do next. */

import { expect, it } from 'vitest'
import { expectOnly, useDoctor } from '../support/doctor.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const { examineWith } = useDoctor(database)

const outboxEvent = `insert into messenger.outbox_events
      (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, attempts,
       parked_at, last_error, superseded_at)
    select gen_random_uuid(), 'DealChatProvision', gen_random_uuid(), 'DealChatStatusChanged', 't', 1,
      '{}', 10, '2026-03-04 05:06:07Z', 'MESSAGE_TOO_LARGE'`
const deadJob = (state: number, reason: string) =>
  `insert into chokaq.jobs_dlq
       (id, queue, type, payload, priority, state, attempts, tags, created_at, reason, details)
     values ('01J0000000000000000000000A', 'default', 'provision.requeue.v1', '1', 1, ${state}, 1, '{}',
       now(), '${reason}', 'x')`

it.each([
  [
    'poison rows',
    `insert into messenger.deal_chat_provisions (id, deal_id, title, status, attempts, last_error)
         select gen_random_uuid(), gen_random_uuid(), 't', 'Failed', n, code
         from (values (10, 'guard:TITLE_BLANK'), (11, 'guard:TITLE_BLANK'), (10, 'bug:Error'),
           (9, 'bug:Error')) as v (n, code)`,
    'truncate messenger.deal_chat_provisions cascade',
    /^3 out of attempts, the oldest since .+, most for guard:TITLE_BLANK$/,
    /provisions list --poison; then runbooks\/chat-provision-poison\.md$/,
  ],
  [
    'parked events',
    // A superseded one is nobody's concern any more.
    `${outboxEvent}, null; ${outboxEvent}, now()`,
    'truncate messenger.outbox_events',
    /^1 set aside, the oldest since 2026-03-04 05:06:07\+00, most for MESSAGE_TOO_LARGE$/,
    /outbox list --parked; then runbooks\/chat-provision-outbox-parked\.md$/,
  ],
  [
    'intake messages',
    `insert into messenger.intake_parked (id, topic, partition, "offset", error)
         values (gen_random_uuid(), 't', 0, 1, 'TITLE_MISSING')`,
    'truncate messenger.intake_parked',
    /^1 set aside, the oldest since .+, most for TITLE_MISSING$/,
    /intake list; then runbooks\/chat-provision-intake-parked\.md$/,
  ],
  [
    'dead letters',
    deadJob(4, 'Timeout'),
    'truncate chokaq.jobs_dlq',
    /^1 Failed, the oldest since .+, most of provision\.requeue\.v1 \(Timeout\)$/,
    /jobs list --state Failed; then runbooks\/chat-provision-jobs-dying\.md$/,
  ],
  [
    'dead letters',
    deadJob(6, 'Zombie'),
    'truncate chokaq.jobs_dlq',
    /^1 Zombie, /,
    /jobs list --state Zombie; then runbooks\/chat-provision-jobs-zombie\.md$/,
  ],
  [
    'queues',
    `insert into chokaq.queues (name, paused, updated_by)
         values ('reports', true, 'ann'), ('open', false, 'ann');
       insert into chokaq.jobs_hot (id, queue, type, payload, priority)
         values ('01J0000000000000000000000A', 'reports', 't', '1', 1)`,
    'truncate chokaq.queues, chokaq.jobs_hot',
    /^reports paused \(set by ann at .+\), 1 jobs wait$/,
    /queues resume reports --by NAME --reason TEXT$/,
  ],
])('%s are counted, with what to do next', async (check, wrong, right, found, mend) => {
  const findings = await examineWith(wrong, right)
  expectOnly(findings, check)
  expect(findings[check]).toMatchObject({
    status: 'warning',
    found: expect.stringMatching(found) as string,
    mend: expect.stringMatching(mend) as string,
  })
})

it('a job that was cancelled is as its operator wants it', async () => {
  const findings = await examineWith(deadJob(5, 'Cancelled'), 'truncate chokaq.jobs_dlq')
  expect(findings['dead letters']).toMatchObject({ status: 'ok' })
})
