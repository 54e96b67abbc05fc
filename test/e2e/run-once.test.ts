/** `run-once` from outside: 400 rows of ten kinds, and its answers where something is amiss. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { installChatFaults, setChatFault } from '../../src/demo/chat-faults.js'
import { runCli, type CliResult } from '../support/cli.js'
import { dealState, readyDeal, seedDeal, type SeededDeal } from '../support/deals.js'
import { useTestDatabase, type TestDatabase } from '../support/test-database.js'

const database = useTestDatabase()

const rowsOfAKind = 40

interface Kind {
  readonly name: string
  readonly seed: (db: TestDatabase) => Promise<SeededDeal>
  readonly becomes: Record<string, unknown>
  readonly counts: 'provisioned' | 'retried' | 'failed' | 'none'
}

const failedOnce = { status: 'Failed', attempts: 1, backedOff: true, chats: 0, events: [] }

async function seedWithFault(db: TestDatabase, sqlstate: string): Promise<SeededDeal> {
  const deal = await seedDeal(db.admin)
  await setChatFault(db.admin, { dealId: deal.dealId, sqlstate })
  return deal
}

const kinds: Kind[] = [
  {
    name: 'failed without a chat',
    seed: (db) => seedDeal(db.admin),
    becomes: readyDeal,
    counts: 'provisioned',
  },
  {
    name: 'stuck in Provisioning',
    seed: (db) => seedDeal(db.admin, { status: 'Provisioning' }),
    becomes: readyDeal,
    counts: 'provisioned',
  },
  {
    name: 'a chat is there, one member has left and two lack',
    seed: async (db) => {
      const deal = await seedDeal(db.admin)
      await sql`
        with chat as (
          insert into messenger.chats (id, kind, status, deal_id, title)
          values (gen_random_uuid(), 'Deal', 'Active', ${deal.dealId}, 'there') returning id)
        insert into messenger.participants (id, chat_id, user_id, role, left_at)
        select gen_random_uuid(), id, ${deal.members[0]?.userId}, 'Owner', now() from chat
      `.execute(db.admin)
      return deal
    },
    becomes: readyDeal,
    counts: 'provisioned',
  },
  {
    name: 'a guard rejects',
    seed: (db) => seedDeal(db.admin, { title: ' ' }),
    becomes: { ...failedOnce, lastError: 'guard:TITLE_BLANK' },
    counts: 'retried',
  },
  {
    name: 'a constraint fails',
    seed: (db) => seedWithFault(db, '23514'),
    becomes: { ...failedOnce, lastError: 'constraint:23514' },
    counts: 'retried',
  },
  {
    name: 'a deadlock every time',
    seed: (db) => seedWithFault(db, '40P01'),
    becomes: { ...failedOnce, lastError: 'contention:40P01' },
    counts: 'retried',
  },
  {
    name: 'the work ends its session',
    seed: (db) => seedWithFault(db, '57P01'),
    becomes: { ...failedOnce, lastError: 'contention:57P01' },
    counts: 'retried',
  },
  {
    name: 'the last attempt fails',
    seed: (db) => seedDeal(db.admin, { members: [], attempts: 9 }),
    becomes: { ...failedOnce, attempts: 10, lastError: 'guard:NO_MEMBERS', events: ['Failed'] },
    counts: 'failed',
  },
  {
    name: 'stuck without attempts left',
    seed: (db) => seedDeal(db.admin, { status: 'Provisioning', attempts: 10 }),
    becomes: { status: 'Failed', attempts: 10, lastError: 'crash:WORKER_DIED', events: ['Failed'] },
    counts: 'failed',
  },
  {
    name: 'poison already',
    seed: (db) => seedDeal(db.admin, { status: 'Failed', attempts: 10 }),
    becomes: { status: 'Failed', attempts: 10, lastError: null, events: [] },
    counts: 'none',
  },
]

function run(environment: Record<string, string> = {}): Promise<CliResult> {
  return runCli(['run-once', '--json'], {
    DATABASE_URL: database().url,
    OUTBOX_RELAY: 'stdout',
    ...environment,
  })
}

function jsonLines(result: CliResult): Record<string, unknown>[] {
  return result.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** A hash of every row of the tables that a cycle may change. */
async function fingerprint(): Promise<unknown> {
  return database().query(`
    select
      (select md5(string_agg(x::text, '' order by id)) from messenger.deal_chat_provisions x) as a,
      (select md5(string_agg(x::text, '' order by id)) from messenger.chats x) as b,
      (select md5(string_agg(x::text, '' order by id)) from messenger.participants x) as c,
      (select md5(string_agg(x::text, '' order by id)) from messenger.chat_events x) as d,
      (select md5(string_agg(x::text, '' order by id)) from messenger.outbox_events x) as e`)
}

describe('400 rows of ten kinds', () => {
  const deals = new Map<string, SeededDeal[]>()
  let first: CliResult

  beforeAll(async () => {
    await installChatFaults(database().admin)
    for (let n = 0; n < rowsOfAKind; n += 1) {
      for (const kind of kinds) {
        const deal = await kind.seed(database())
        deals.set(kind.name, [...(deals.get(kind.name) ?? []), deal])
      }
    }
    first = await run()
  })

  const expected = (counts: Kind['counts']): number =>
    kinds.filter((kind) => kind.counts === counts).length * rowsOfAKind

  it('the summary is the last line and counts each as the outcome table says', () => {
    const lines = jsonLines(first)
    expect(first.exitCode).toBe(0)
    expect(lines.at(-1)).toMatchObject({
      outcome: 'completed',
      reason: null,
      claimed: (kinds.length - 1) * rowsOfAKind,
      provisioned: expected('provisioned'),
      retried: expected('retried'),
      failed: expected('failed'),
      skipped: 0,
      published: expected('provisioned') + expected('failed'),
    })
    expect(lines.slice(0, -1)).toHaveLength(expected('provisioned') + expected('failed'))
  })

  it.each(kinds)('$name', async ({ name, becomes }) => {
    const states = await Promise.all(
      (deals.get(name) ?? []).map((deal) => dealState(database().admin, deal.dealId)),
    )
    expect(states).toHaveLength(rowsOfAKind)
    for (const state of states) expect(state).toMatchObject(becomes)
  })

  it('a second run changes no row', async () => {
    const before = await fingerprint()
    const second = await run()
    expect(jsonLines(second)).toMatchObject([{ outcome: 'completed', claimed: 0, published: 0 }])
    expect(await fingerprint()).toEqual(before)
  })
})

describe('bad input', () => {
  it('wrong options are all named at once, exit 2, and no work is done', async () => {
    const result = await run({
      CHAT_PROVISION_RETRY_BATCH_SIZE: '0',
      CHAT_PROVISION_RETRY_POLING_INTERVAL: '60s',
      CHAT_PROVISION_RETRY_LOCK_TTL: '1m',
    })
    expect(result.exitCode).toBe(2)
    expect(result.stdout).toBe('')
    expect(result.stderr).toContain('CHAT_PROVISION_RETRY_BATCH_SIZE')
    expect(result.stderr).toContain('CHAT_PROVISION_RETRY_POLLING_INTERVAL')
    expect(result.stderr).toContain('CHAT_PROVISION_RETRY_LOCK_TTL')
  })

  it('a database that is away: one clear line, exit 1', async () => {
    const password = randomUUID()
    const result = await run({ DATABASE_URL: `postgres://someone:${password}@127.0.0.1:1/pin` })
    expect(result.exitCode).toBe(1)
    expect(result.stdout).toBe('')
    expect(result.stderr).toMatch(/^error: PostgreSQL at 127\.0\.0\.1:1\/pin .*ECONNREFUSED.*\n$/)
    expect(result.stderr).not.toContain(password)
  })

  it('a broker that is away: the cycle’s work stands, exit 1', async () => {
    const deal = await seedDeal(database().admin)
    const result = await run({
      OUTBOX_RELAY: 'kafka',
      KAFKA_BROKERS: '127.0.0.1:1',
      SHUTDOWN_GRACE: '3s',
    })
    expect(result.exitCode).toBe(1)
    expect(jsonLines(result)).toMatchObject([
      { outcome: 'completed', provisioned: 1, published: 0 },
    ])
    expect(result.stderr).toMatch(/\nerror: .*They wait in the outbox/)
    expect(await dealState(database().admin, deal.dealId)).toMatchObject(readyDeal)
  })

  it('reference tables that are missing are named, with the command that makes them', async () => {
    await sql`alter table messenger.participants rename to participants_elsewhere`.execute(
      database().admin,
    )
    const result = await run()
    await sql`alter table messenger.participants_elsewhere rename to participants`.execute(
      database().admin,
    )
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toContain('messenger.participants')
    expect(result.stderr).toContain('migrate up --reference')
  })

  it('an unknown command or flag: exit 2', async () => {
    expect(await runCli(['run-twice'], {})).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await runCli(['run-once', '--jsn'], {})).toMatchObject({ exitCode: 2, stdout: '' })
  })
})
