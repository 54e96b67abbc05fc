/** What an operator does with crm's messages that were set aside: sees why, takes them in, discards them. */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli, type CliResult } from '../support/cli.js'
import { dealState, readyDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { dealCreated, rawMessage, useTestHandlers } from '../integration/intake-fixtures.js'

const database = useTestDatabase()
const newHandler = useTestHandlers(database)
const who = ['--by', 'anna', '--reason', 'crm was asked']

beforeEach(async () => {
  await sql`truncate messenger.chat_provision_audit`.execute(database().admin)
})

const run = (...args: readonly string[]): Promise<CliResult> =>
  runCli(['intake', ...args], { DATABASE_URL: database().url })
const json = (result: CliResult): unknown => JSON.parse(result.stdout) as unknown

async function parked(): Promise<{ id: string; reason: string }[]> {
  return json(await run('list', '--json')) as { id: string; reason: string }[]
}

async function newest(): Promise<string> {
  return (await parked())[0]?.id ?? ''
}

/** Sets one message aside for a rule of the table, which is then taken away; gives its deal. */
async function parkForARule(): Promise<string> {
  const table = 'messenger.deal_chat_provisions'
  await database().query(`alter table ${table} add constraint no_x check (title <> 'x')`)
  const message = dealCreated({ title: 'x' })
  await newHandler().take(message)
  await database().query(`alter table ${table} drop constraint no_x`)
  return message.dealId
}

async function audit(): Promise<unknown[]> {
  return database().query(
    'select actor, action, deal_id, reason, affected from messenger.chat_provision_audit order by id',
  )
}

describe('messages that were set aside', () => {
  it('are listed newest first, page by page, with why and without what they say', async () => {
    const handler = newHandler()
    await handler.take(rawMessage('{"Title":"secret"}'))
    await handler.take(rawMessage('not json'))
    expect(handler.counted.parked).toBe(2)
    const first = await run('list', '--limit', '1')
    expect(first.stdout).toContain('NOT_JSON')
    const [, cursor = ''] = /--cursor (\S+)/.exec(first.stderr) ?? []
    const second = await run('list', '--cursor', cursor)
    expect(second.stdout).toContain('SHAPE_INVALID')
    expect(second.stdout).not.toContain('secret')
    const id = await newest()
    expect((await run('show', id)).stdout).toMatch(/^reason +NOT_JSON$/m)
    expect((await run('show', id, '--value')).stdout).toBe('not json\n')
  })

  it('are taken in once nothing is against it, with a line in the audit', async () => {
    const dealId = await parkForARule()
    const foretold = await run('retry', '--all', '--dry-run')
    expect(foretold.stdout).toBe('1 message would be taken in\n')
    expect(await parked()).toHaveLength(1)

    const done = await run('retry', '--all', ...who)
    expect(done).toMatchObject({ exitCode: 0, stdout: '1 message taken in\n' })
    expect(await dealState(database().admin, dealId)).toMatchObject({ ...readyDeal, attempts: 0 })
    expect(await parked()).toEqual([])
    const line = { actor: 'anna', action: 'intake-retry', deal_id: dealId, reason: 'crm was asked' }
    expect(await audit()).toEqual([{ ...line, affected: 1 }])
  })

  it('stay, and say why, where they go wrong again', async () => {
    await newHandler().take(rawMessage('not json'))
    const id = await newest()
    for (const mode of [['--dry-run'], who]) {
      const refused = await run('retry', id, ...mode)
      expect(refused.exitCode).toBe(1)
      expect(refused.stdout).toContain(`refused ${id}: it still can't be read: NOT_JSON`)
    }
    expect(await parked()).toHaveLength(1)
    expect(await audit()).toEqual([])
  })

  it('say nothing new of a deal that came another way', async () => {
    const dealId = await parkForARule()
    await newHandler().take(dealCreated({ dealId, title: 'y' }))
    const before = await dealState(database().admin, dealId)
    expect((await run('retry', '--all', ...who)).exitCode).toBe(0)
    expect(await dealState(database().admin, dealId)).toEqual(before)
    expect(await parked()).toEqual([])
  })

  it('are discarded by name, on record, and only once', async () => {
    await newHandler().take(rawMessage('not json'))
    const id = await newest()
    expect((await run('discard', id, '--dry-run')).stdout).toBe('1 message would be discarded\n')
    expect(await parked()).toHaveLength(1)
    expect((await run('discard', id, ...who)).exitCode).toBe(0)
    expect(await parked()).toEqual([])
    const again = await run('discard', id, ...who)
    expect(again).toMatchObject({ exitCode: 1 })
    expect(again.stdout).toContain('there is no such message')
    expect(await audit()).toMatchObject([{ action: 'intake-discard', deal_id: null, affected: 1 }])
  })

  it.each([
    ['retry', /MESSAGE_ID… or --all/],
    [`retry ${randomUUID()} --all`, /not both/],
    [`retry ${randomUUID()}`, /--by must say who/],
    ['retry x --by a --reason b', /Not a message id: "x"/],
    ['discard', /missing required argument/],
    ['show x', /Not a message id/],
    ['list --cursor x', /cursor is not one/],
  ])('wrong use changes nothing: intake %s', async (line, says) => {
    const { exitCode, stderr } = await run(...line.split(' '))
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(says)
  })
})
