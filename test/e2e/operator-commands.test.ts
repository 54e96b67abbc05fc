/** The operator's commands from outside: bad input changes nothing, bulk work ends and goes on. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli, startCli, type CliResult } from '../support/cli.js'
import { dealState, seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

const database = useTestDatabase()

beforeEach(async () => {
  await sql`truncate messenger.deal_chat_provisions, messenger.deal_chat_provision_members,
    messenger.chat_provision_attempts,
    messenger.outbox_events, messenger.chat_provision_audit`.execute(database().admin)
})

const environment = () => ({ DATABASE_URL: database().url })
const run = (...args: readonly string[]): Promise<CliResult> => runCli(args, environment())
const who = ['--by', 'anna', '--reason', 'the cause was mended']

/** Poison rows in bulk. */
async function seedPoison(count: number): Promise<void> {
  await database().query(
    `insert into messenger.deal_chat_provisions
       (id, deal_id, title, status, attempts, last_error, updated_at)
     select gen_random_uuid(), gen_random_uuid(), 'x', 'Failed', 10, 'guard:NO_MEMBERS',
       now() - interval '1 hour' from generate_series(1, $1)`,
    [count],
  )
}

async function count(what: string): Promise<number> {
  const [row] = await database().query<{ n: number }>(`select count(*)::int as n from ${what}`)
  return row?.n ?? 0
}

const events = 'messenger.outbox_events'
const rowsOnRecord = 'messenger.chat_provision_audit where deal_id is not null'

function json(result: CliResult): unknown {
  return JSON.parse(result.stdout) as unknown
}

describe('wrong use', () => {
  const id = randomUUID()
  it.each([
    ['provisions requeue', /DEAL_ID/],
    [`provisions requeue ${id} --poison`, /not both/],
    [`provisions requeue ${id}`, /--by must say who/],
    [`provisions requeue ${id} --by anna`, /--reason must say why/],
    ['provisions requeue nonsense --by a --reason b', /Not a deal id: "nonsense"/],
    ['provisions requeue --status done --by a --reason b', /one of Provisioning, Ready, Failed/],
    ['provisions requeue --older-than 5 --by a --reason b', /such as 90s/],
    ['provisions requeue --poison --by a --reason b', /12 deals. Add --yes/],
    ['provisions reemit --poison --by a --reason b', /12 deals. Add --yes/],
    ['provisions reconcile --mend --by a --reason b', /12 deals. Add --yes/],
    ['provisions reconcile --mend', /--by must say who/],
    ['provisions reconcile --tenant acme', /Not a tenant id/],
    ['provisions list --limit 0', /whole number from 1/],
    ['provisions list --cursor nonsense', /Begin without a cursor/],
    ['provisions show nonsense', /Not a deal id/],
    ['provisions mend', /unknown command 'mend'/],
    ['provisions requeu --poison', /Did you mean requeue\?/],
    ['outbox list --parked --pending', /one state only/],
    ['outbox list --state gone', /one of pending, parked/],
    ['outbox replay --by a --reason b', /EVENT_ID/],
    ['outbox skip --by a --reason b', /missing required argument/],
    ['outbox show nonsense', /Not an event id/],
    ['audit list --action mend', /one of requeue/],
    ['audit list --deal x', /Not a deal id/],
    ['audit undo x --by a --reason b', /Not a line of the audit/],
    ['runs list --cursor nonsense', /Begin without a cursor/],
  ])('%s: exit 2, one line that helps, nothing changed', async (line, message) => {
    await seedPoison(12)
    const result = await run(...line.split(' '))
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(/^error: [^\n]+\n$/)
    expect(result.stderr).toMatch(message)
    expect([await count(events), await count('messenger.chat_provision_audit')]).toEqual([0, 0])
  })
})

describe('help', () => {
  it.each([
    'provisions list',
    'provisions show',
    'provisions requeue',
    'provisions reemit',
    'provisions reconcile',
    'outbox status',
    'outbox list',
    'outbox show',
    'outbox replay',
    'outbox skip',
    'runs list',
    'audit list',
    'audit undo',
  ])('of %s teaches by an example', async (command) => {
    const { exitCode, stdout } = await run(...command.split(' '), '--help')
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`\n  chat-provision-retry ${command}`)
  })
})

it('`provisions show` says what happens next, and no time that means nothing', async () => {
  const { dealId } = await seedDeal(database().admin, { attempts: 10, title: 'Tower 7' })
  const { stdout } = await run('provisions', 'show', dealId)
  expect(stdout).toMatch(/^Nothing by itself: it is out of attempts\. Mend the cause/)
  expect(stdout).toMatch(/^title +Tower 7$/m)
  expect(stdout).toMatch(/^nextAttemptAt +-$/m)
})

describe('an undo', () => {
  it('takes a re-enqueue back by its line, and says why a second one does not', async () => {
    const { dealId } = await seedDeal(database().admin, { attempts: 10 })
    await run('provisions', 'requeue', dealId, ...who)
    const lines = (await run('audit', 'list', '--json')).stdout
    const [line] = JSON.parse(lines) as { id: string; canBeUndone: boolean }[]
    expect(line).toMatchObject({ canBeUndone: true })
    const undo = () => run('audit', 'undo', line?.id ?? '', ...who)
    expect(await undo()).toMatchObject({ exitCode: 0, stdout: '1 taken back\n' })
    expect(await dealState(database().admin, dealId)).toMatchObject({ attempts: 10 })
    const again = await undo()
    expect(again.exitCode).toBe(1)
    expect(again.stdout).toMatch(/stays \(ALREADY_UNDONE\): anna has taken it back/)
  })
})

describe('a bulk command', () => {
  it('as a dry run tells the number and changes nothing', async () => {
    await seedPoison(12)
    const result = await run('provisions', 'requeue', '--poison', '--dry-run', '--json')
    expect(result.exitCode).toBe(0)
    expect(json(result)).toEqual({
      dryRun: true,
      affected: 12,
      skipped: 0,
      doneBefore: 0,
      refused: [],
      stopped: false,
      auditId: null,
    })
    expect(await count(events)).toBe(0)
  })

  it('killed half way, given again, does the rest and repeats nothing', async () => {
    await seedPoison(600)
    const command = ['provisions', 'reemit', '--poison', ...who, '--yes', '--json']
    const doomed = startCli(command, environment())
    await waitFor('some rows to be done', async () => (await count(events)) >= 20)
    doomed.child.kill('SIGKILL')
    await doomed.exited
    // The server rolls back the row under way a moment after.
    await waitFor('its session to be gone', async () => {
      const sessions = `pg_stat_activity where datname = current_database()
        and application_name = 'chat-provision-retry command'`
      return (await count(sessions)) === 0
    })
    const before = await count(events)
    expect(before).toBeLessThan(600)
    expect(await count(rowsOnRecord)).toBe(before)

    const result = await run(...command)
    expect(result.exitCode).toBe(0)
    expect(json(result)).toMatchObject({ affected: 600 - before, skipped: before, refused: [] })
    expect(await count(events)).toBe(600)
    expect(await count(`(select distinct aggregate_id from ${events}) deals`)).toBe(600)
    expect(await count(rowsOnRecord)).toBe(600)
  })

  it('told to stop ends after the deal under way, says so, and goes on when given again', async () => {
    await seedPoison(600)
    const command = ['provisions', 'requeue', '--status', 'Failed', ...who, '--yes']
    const stopped = startCli(command, environment())
    await waitFor('some rows to be done', async () => (await count(events)) >= 20)
    stopped.child.kill('SIGTERM')
    expect(await stopped.exited).toBe(1)
    expect(stopped.stdout()).toContain('the same command goes on from there')
    const result = await run(...command)
    expect(result.exitCode).toBe(0)
    expect(result.stdout).toMatch(/^\d+ deals re-enqueued\n\d+ left alone/)
    expect(await count(events)).toBe(600)
    const [closing] = await database().query(
      'select affected, filter from messenger.chat_provision_audit where deal_id is null',
    )
    expect(closing).toEqual({ affected: 600, filter: 'status=Failed' })
  })

  it('with a refusal exits 1 and names it', async () => {
    const good = await seedDeal(database().admin, { attempts: 10 })
    const unknown = randomUUID()
    const result = await run('provisions', 'requeue', good.dealId, unknown, ...who)
    expect(result.exitCode).toBe(1)
    expect(result.stdout).toContain('1 deal re-enqueued')
    expect(result.stdout).toContain(`refused ${unknown}: there is no provision for this deal`)
  })
})

describe('what was done', () => {
  it('is found by show and by the audit, and a second page by its cursor', async () => {
    const deal = await seedDeal(database().admin, { attempts: 10 })
    await run('provisions', 'requeue', deal.dealId, ...who)
    await run('provisions', 'reemit', deal.dealId, ...who)
    expect(await dealState(database().admin, deal.dealId)).toMatchObject({
      events: ['Provisioning', 'Provisioning'],
    })
    const shown = json(await run('provisions', 'show', deal.dealId, '--json'))
    expect(shown).toMatchObject({ audit: [{ action: 'requeue' }, { action: 'reemit' }] })
    const first = await run('audit', 'list', '--deal', deal.dealId, '--limit', '1', '--json')
    expect(json(first)).toMatchObject([{ action: 'reemit', actor: 'anna', affected: 1 }])
    const cursor = /--cursor (\S+)/.exec(first.stderr)?.[1] ?? ''
    const second = await run('audit', 'list', '--deal', deal.dealId, '--cursor', cursor, '--json')
    expect(json(second)).toMatchObject([{ action: 'requeue', reason: 'the cause was mended' }])
    expect(second.stderr).toBe('')
  })

  it('by reconcile is an array of findings, and a table where people look', async () => {
    await seedPoison(2)
    const found = await run('provisions', 'reconcile', '--json')
    expect(json(found)).toMatchObject([
      { finding: 'FAILED_EVENT_MISSING', outcome: 'found' },
      { finding: 'FAILED_EVENT_MISSING', outcome: 'found' },
    ])
    const mended = await run('provisions', 'reconcile', '--mend', ...who)
    expect(mended.exitCode).toBe(0)
    expect(mended.stdout).toContain('2 deals examined, 2 findings, 2 mended')
    expect(json(await run('provisions', 'reconcile', '--json'))).toEqual([])
  })
})
