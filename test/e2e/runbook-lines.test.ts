/**
 * Each command and each query of the runbooks, as it stands there, against a database with a deal that is
 * out of attempts, an event and a message that are parked, and a dead job: it runs, and does what it says.
 */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStorage } from '../../src/chokaq/index.js'
import { commandLines, readMarkdown, codeBlocks } from '../support/documents.js'
import { seedDeal } from '../support/deals.js'
import {
  fillIn,
  openRunbookShell,
  type Filling,
  type RunbookShell,
} from '../support/runbook-shell.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()
const runbooks = await readMarkdown('runbooks')
const program = 'chat-provision-retry'

const commands = runbooks.flatMap(({ path, text }) =>
  commandLines(text, program).map((line) => ({ path, line })),
)
/** The same line of several pages is run once. */
const distinct = commands.filter(
  ({ line }, index) => commands.findIndex((other) => other.line === line) === index,
)

/** These concern the whole server; test/connect does to a server of its own what they say. */
const serverWide = /^(alter system|select pg_reload_conf|select pg_(drop|create_logical)_)/
const queries = runbooks.flatMap(({ path, text }) =>
  codeBlocks(text)
    .filter(({ language }) => language === 'sql')
    .flatMap(({ lines }) => lines.join('\n').split(/;\s*(?:\n|$)/))
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '' && !serverWide.test(statement))
    .map((statement) => ({ path, statement })),
)

let filling: Filling

beforeEach(async () => {
  const deal = await seedDeal(database().admin, { title: ' ', attempts: 10 })
  const eventId = randomUUID()
  await database().query(
    `update messenger.deal_chat_provisions set last_error = 'guard:TITLE_BLANK'`,
  )
  await database().query(
    `insert into messenger.outbox_events (id, aggregate_type, aggregate_id, type, topic,
       contract_version, payload, attempts, last_error, parked_at)
     values ($1, 'DealChatProvision', $2, 'DealChatStatusChanged', 't', 1,
       json_build_object('DealId', $2::uuid, 'ChatId', null, 'Status', 'Failed',
         'OccurredAt', '2026-01-02T03:04:05.678Z'), 10, 'too large', now())`,
    [eventId, deal.dealId],
  )
  const jobs = createPostgresStorage({ db: database().admin })
  const job = { type: 'provision.requeue.v1', queue: 'operations', payload: '{}' }
  const [enqueued] = await jobs.enqueue([job])
  const jobId = enqueued?.id ?? ''
  await jobs.cancel([jobId], { by: 'test', reason: 'to be dead' })
  const messageId = randomUUID()
  const message = {
    ...{ DealId: randomUUID(), Title: 'x' },
    Members: [{ UserId: randomUUID(), Role: 'Owner' }],
  }
  await database().query(
    `insert into messenger.intake_parked (id, topic, partition, "offset", value, error)
     values ($1, 'pin.crm.deal-created.v1', 0, 1, $2, 'DATABASE_REFUSES: constraint:23514')`,
    [messageId, Buffer.from(JSON.stringify(message))],
  )
  filling = {
    DEAL_ID: deal.dealId,
    JOB_ID: jobId,
    MESSAGE_ID: messageId,
    EVENT_ID: eventId,
    USER_ID: randomUUID(),
    NAME: 'ann',
    TEXT: "'runbook followed'",
    'CLASS:CODE': 'guard:TITLE_BLANK',
  }
})

afterEach(async () => {
  await sql`truncate messenger.deal_chat_provisions, messenger.outbox_events,
    messenger.chat_provision_runs, messenger.chat_provision_audit, messenger.intake_parked,
    messenger.chats, chokaq.jobs_hot, chokaq.jobs_dlq, chokaq.queues cascade`.execute(
    database().admin,
  )
})

describe('the commands', () => {
  let shell: RunbookShell
  beforeAll(async () => {
    const environment = { DATABASE_URL: database().url, OUTBOX_RELAY: 'stdout' }
    shell = await openRunbookShell(environment, 'http://127.0.0.1:1')
  })
  afterAll(() => shell.remove())

  it.each(distinct)('$path: $line', async ({ line }) => {
    expect(await shell.run(fillIn(line, filling))).toMatch(/\S/)
    const changes = /--by (?!.*--dry-run)/.exec(line)
    const audit = await database().query(
      'select distinct actor, reason from messenger.chat_provision_audit',
    )
    expect(audit).toEqual(
      changes === null
        ? []
        : [expect.objectContaining({ actor: 'ann', reason: 'runbook followed' })],
    )
  })
})

describe('the queries', () => {
  it.each(queries)('$path: $statement', async ({ statement }) => {
    const client = new pg.Client({ connectionString: database().adminUrl })
    await client.connect()
    try {
      await client.query('begin')
      const { command, rowCount } = await client.query(fillIn(statement, filling))
      // What mends touches the deal that it names, no other.
      if (command === 'INSERT') expect(rowCount).toBe(1)
      if (command === 'UPDATE') expect(rowCount).toBeLessThanOrEqual(1)
    } finally {
      await client.end()
    }
  })

  it('are there, as the commands are', () => {
    expect(queries.length).toBeGreaterThan(12)
    expect(distinct.length).toBeGreaterThan(15)
  })
})
