/** `doctor` on tables that are not as they should be: what lacks, what may not be done, what is lost. */

import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { expectOnly, useDoctor } from '../support/doctor.js'
import { Rival } from '../support/rival.js'
import { createTestDatabase, useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const { examine, examineWith } = useDoctor(database)

describe('the schema', () => {
  it('that is not there: both kinds of tables are named with their commands', async () => {
    const empty = await createTestDatabase({ empty: true })
    const findings = await examine({ DATABASE_URL: empty.url })
    await empty.close()
    await empty.drop()
    expect(findings['schema']).toMatchObject({ status: 'failed' })
    expect(findings['schema']?.mend).toContain('migrate up')
    expect(findings['reference tables']?.mend).toContain('migrate up --reference')
    expect(findings['rows']).toMatchObject({ status: 'skipped' })
    expect(findings['clocks']).toMatchObject({ status: 'ok' })
  })

  it.each([
    [
      'ix_dcp_due',
      'drop index messenger.ix_dcp_due',
      'create index ix_dcp_due on messenger.deal_chat_provisions (status, next_attempt_at)',
    ],
    [
      'ux_dcp_deal',
      'alter table messenger.deal_chat_provisions drop constraint ux_dcp_deal',
      'alter table messenger.deal_chat_provisions add constraint ux_dcp_deal unique (deal_id)',
    ],
    [
      'ck_dcp_attempts',
      `alter table messenger.deal_chat_provisions drop constraint ck_dcp_attempts;
       alter table messenger.deal_chat_provisions
         add constraint ck_dcp_attempts check (attempts >= 0) not valid`,
      'alter table messenger.deal_chat_provisions validate constraint ck_dcp_attempts',
    ],
  ])('that has lost %s', async (name, wrong, right) => {
    const findings = await examineWith(wrong, right)
    expectOnly(findings, 'schema')
    expect(findings['schema']?.found).toContain(name)
  })
})

describe('the reference tables', () => {
  it('may carry more columns, but none that must be filled', async () => {
    const findings = await examineWith(
      `alter table messenger.chats add theme text, add origin text not null default 'crm',
         add pinned boolean not null default false, add colour text;
       alter table messenger.chats alter pinned drop default`,
      'alter table messenger.chats drop theme, drop origin, drop pinned, drop colour',
    )
    expectOnly(findings, 'reference tables')
    expect(findings['reference tables']?.found).toContain('messenger.chats.pinned must be filled')
    expect(findings['reference tables']?.found).not.toMatch(/theme|origin|colour/)
  })

  it.each([
    [
      'chat_events has no unique index',
      'drop index messenger.ux_chat_events_provisioned',
      `create unique index ux_chat_events_provisioned on messenger.chat_events (chat_id)
         where type = 'DealChatProvisioned'`,
    ],
    [
      'participants has no unique index',
      'alter table messenger.participants drop constraint ux_participants_chat_user',
      `alter table messenger.participants
         add constraint ux_participants_chat_user unique (chat_id, user_id)`,
    ],
    [
      'chats has no unique index for one chat per deal',
      `alter table messenger.chats drop constraint ux_chats_deal_id;
       alter table messenger.chats
         add constraint ux_chats_deal_id unique (deal_id) deferrable`,
      `alter table messenger.chats drop constraint ux_chats_deal_id;
       alter table messenger.chats add constraint ux_chats_deal_id unique (deal_id)`,
    ],
    [
      'participants has no column left_at',
      'alter table messenger.participants rename left_at to gone_at',
      'alter table messenger.participants rename gone_at to left_at',
    ],
    [
      'messenger.chat_events',
      'alter table messenger.chat_events rename to elsewhere',
      'alter table messenger.elsewhere rename to chat_events',
    ],
  ])('%s', async (found, wrong, right) => {
    const findings = await examineWith(wrong, right)
    expectOnly(findings, 'reference tables')
    expect(findings['reference tables']?.found).toContain(found)
    expect(findings['reference tables']?.mend).not.toBe('')
  })
})

describe('the grants', () => {
  it.each([
    ['insert on messenger.outbox_events', 'insert on messenger.outbox_events'],
    ['update on messenger.participants (left_at)', 'update (left_at) on messenger.participants'],
    ['usage on messenger', 'usage on schema messenger'],
  ])('that lack %s', async (found, right) => {
    const findings = await examineWith(
      `revoke ${right} from chat_provision_retry`,
      `grant ${right} to chat_provision_retry`,
    )
    expect(findings['grants']).toMatchObject({ status: 'failed' })
    expect(findings['grants']?.found).toBe(`test_worker lacks ${found}`)
    expect(findings['grants']?.mend).toContain('grants/worker.sql')
  })

  it('of a superuser are too many', async () => {
    const findings = await examine({ DATABASE_URL: database().adminUrl })
    expectOnly(findings, 'grants')
    expect(findings['grants']).toMatchObject({ status: 'warning' })
  })
})

describe('rows that no selection can reach', () => {
  it('are counted and named, by what is wrong with them', async () => {
    const deals = []
    for (let n = 0; n < 5; n += 1) deals.push(await seedDeal(database().admin))
    const [never, later, ahead, odd, silent] = deals.map(({ dealId }) => dealId)
    const change = (set: string, dealId: string | undefined): Promise<unknown> =>
      database().query(`update messenger.deal_chat_provisions set ${set} where deal_id = $1`, [
        dealId,
      ])
    await change("next_attempt_at = 'infinity'", never)
    await change("next_attempt_at = now() + interval '10 years'", later)
    await change("status = 'Provisioning', updated_at = 'infinity'", ahead)
    await sql`alter table messenger.deal_chat_provisions drop constraint ck_dcp_status`.execute(
      database().admin,
    )
    await change("status = 'Lost'", odd)
    await database().query(
      `insert into messenger.outbox_events
         (id, aggregate_type, aggregate_id, type, topic, contract_version, payload, next_attempt_at)
       values (gen_random_uuid(), 'DealChatProvision', $1, 'DealChatStatusChanged', 't', 1, '{}',
         'infinity')`,
      [silent],
    )
    const { rows, schema } = await examine()
    await sql`truncate messenger.deal_chat_provisions, messenger.outbox_events cascade`.execute(
      database().admin,
    )
    await sql`alter table messenger.deal_chat_provisions add constraint ck_dcp_status
      check (status in ('Provisioning', 'Ready', 'Failed'))`.execute(database().admin)

    expect(rows).toMatchObject({ status: 'failed' })
    expect(rows?.found).toContain(`1 with a status that is none: deal ${odd}`)
    expect(rows?.found).toContain('2 with a next attempt that never comes')
    expect(rows?.found).toContain(
      `1 with Provisioning since a time that is yet to come: deal ${ahead}`,
    )
    expect(rows?.found).toContain(`1 with an event that is never sent: deal ${silent}`)
    expect(rows?.mend).toContain('next_attempt_at to now()')
    expect(schema?.found).toContain('ck_dcp_status')
  })

  it('can’t be looked for while someone keeps the table: said, and nothing else is hidden', async () => {
    const rival = await Rival.begin(database().adminUrl)
    await rival.query('lock table messenger.deal_chat_provisions in access exclusive mode')
    const findings = await examine()
    await rival.rollback()
    expectOnly(findings, 'rows', 'poison rows')
    expect(findings['rows']?.found).toContain('55P03')
  })
})

describe('a durable job', () => {
  it('that somebody has put into a second table is found', async () => {
    const id = '01J0000000000000000000000A'
    const findings = await examineWith(
      `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
         values ('${id}', 'q', 't', '1', 1), ('01J0000000000000000000000B', 'q', 't', '1', 1);
       insert into chokaq.jobs_dlq
           (id, queue, type, payload, priority, state, attempts, tags, created_at, reason, details)
         values ('${id}', 'q', 't', '1', 1, 5, 1, '{}', now(), 'Cancelled', 'x')`,
      'truncate chokaq.jobs_hot, chokaq.jobs_dlq',
    )
    expectOnly(findings, 'jobs')
    expect(findings['jobs']).toMatchObject({
      status: 'failed',
      found: `1 in more than one table: job ${id}`,
    })
  })
})
