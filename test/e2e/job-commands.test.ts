/** `jobs …` and `queues …` from outside, with no worker running: looked at, changed, on record. */

import { beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStorage } from '../../src/chokaq/index.js'
import { runCli, type CliResult } from '../support/cli.js'
import { useTestDatabase } from '../support/test-database.js'

const database = useTestDatabase()

beforeEach(async () => {
  await database().query('truncate chokaq.jobs_hot, chokaq.jobs_dlq, chokaq.queues')
  await database().query('truncate messenger.chat_provision_audit')
})

const run = (...args: readonly string[]): Promise<CliResult> =>
  runCli(args, { DATABASE_URL: database().url })
const who = ['--by', 'anna', '--reason', 'wrong filter']
/** Of a requeue job. */
const sound = (n: number): string =>
  JSON.stringify({ filter: { poison: true }, by: 'anna', reason: `outage ${n}` })
const json = (result: CliResult): unknown => JSON.parse(result.stdout)

async function enqueue(): Promise<string> {
  const job = { type: 'provision.requeue.v1', queue: 'default', payload: sound(1) }
  const [added] = await createPostgresStorage({ db: database().admin }).enqueue([job])
  if (added === undefined) throw new Error('nothing was enqueued')
  return added.id
}

function audit(): Promise<unknown[]> {
  return database().query(
    'select actor, action, filter, reason from messenger.chat_provision_audit order by id',
  )
}

describe('a job', () => {
  it('is listed, shown, hurried, cancelled and resurrected, each change on record', async () => {
    const id = await enqueue()
    expect(json(await run('jobs', 'list', '--json'))).toMatchObject([
      { id, state: 'Pending', place: 'hot', priority: 10, attempts: 0, finishedAt: null },
    ])
    expect(await run('jobs', 'priority', id, '90', ...who)).toMatchObject({ exitCode: 0 })
    expect(json(await run('jobs', 'show', id.toLowerCase(), '--json'))).toMatchObject({
      priority: 90,
      payload: sound(1),
      modifiedBy: 'anna',
    })
    const cancelled = await run('jobs', 'cancel', id, ...who)
    expect(cancelled).toMatchObject({ exitCode: 0, stdout: `${id}: cancelled\n` })
    expect(json(await run('jobs', 'list', '--place', 'dlq', '--json'))).toMatchObject([
      { id, state: 'Cancelled' },
    ])
    const again = ['jobs', 'resurrect', id, '--payload', sound(2), '--tags', 'a,b', ...who]
    expect(await run(...again)).toMatchObject({ exitCode: 0 })
    expect(json(await run('jobs', 'show', id, '--json'))).toMatchObject({
      state: 'Pending',
      payload: sound(2),
      tags: ['a', 'b'],
    })
    await run('jobs', 'cancel', id, ...who)
    expect(await run('jobs', 'resurrect', id, '--tags', '', ...who)).toMatchObject({ exitCode: 0 })
    expect(json(await run('jobs', 'show', id, '--json'))).toMatchObject({ tags: [] })
    const line = { actor: 'anna', filter: `job=${id}`, reason: 'wrong filter' }
    expect(await audit()).toEqual([
      { ...line, action: 'job-priority' },
      { ...line, action: 'job-cancel' },
      { ...line, action: 'job-resurrect' },
      { ...line, action: 'job-cancel' },
      { ...line, action: 'job-resurrect' },
    ])
    expect(json(await run('audit', 'list', '--action', 'job-cancel', '--json'))).toHaveLength(2)
  })

  it('is not resurrected with a payload that its type can not have: exit 2, nothing changed', async () => {
    const id = await enqueue()
    await run('jobs', 'cancel', id, ...who)
    const unfit = JSON.stringify({ filter: { colour: 'red' }, by: 'anna', reason: 'x' })
    const result = await run('jobs', 'resurrect', id, '--payload', unfit, ...who)
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(
      /^error: The payload does not fit provision\.requeue\.v1, nothing was changed: filter: [^\n]+\n$/,
    )
    expect(json(await run('jobs', 'show', id, '--json'))).toMatchObject({
      state: 'Cancelled',
      payload: sound(1),
    })
  })

  it('that can not be changed is refused with the reason, exit 1', async () => {
    const id = await enqueue()
    const result = await run('jobs', 'resurrect', id, ...who)
    expect(result).toMatchObject({
      exitCode: 1,
      stdout: `refused ${id}: no dead letter has this id\n`,
    })
    expect(await run('jobs', 'show', '01J0000000000000000000000A')).toMatchObject({ exitCode: 1 })
    expect(await audit()).toEqual([])
  })
})

describe('a queue', () => {
  it('that nobody knows is not made by a slip, one to come is', async () => {
    const slip = await run('queues', 'pause', 'defualt', ...who)
    expect(slip).toMatchObject({ exitCode: 1, stdout: '' })
    expect(slip.stderr).toMatch(/no queue "defualt"\. There are default, maintenance, operations/)
    expect(await run('queues', 'set', 'defualt', '--max-workers', '3', ...who)).toEqual(slip)
    expect(await audit()).toEqual([])
    expect(await run('queues', 'pause', 'operations', ...who)).toMatchObject({ exitCode: 0 })
    // They are listed before their first job too.
    expect(json(await run('queues', 'list', '--json'))).toMatchObject([
      { name: 'default', paused: false, due: 0 },
      { name: 'maintenance', paused: false },
      { name: 'operations', paused: true },
    ])
  })

  it('is paused, limited and opened again, each change on record', async () => {
    const reports = (...args: readonly string[]): Promise<CliResult> =>
      runCli(['queues', ...args, ...who], {
        DATABASE_URL: database().url,
        CHOKAQ_QUEUES: 'reports:maxWorkers=9',
      })
    await reports('pause', 'reports')
    const limits = ['--max-workers', '3', '--zombie-timeout', '40m']
    const set = await run('queues', 'set', 'reports', ...limits, ...who)
    expect(set).toMatchObject({ exitCode: 0, stdout: 'reports: paused, at most 3 workers\n' })
    expect(json(await run('queues', 'list', '--json'))).toMatchObject([
      { name: 'default' },
      { name: 'maintenance' },
      { name: 'operations' },
      { name: 'reports', paused: true, maxWorkers: 3, zombieTimeoutMs: 2_400_000, due: 0 },
    ])
    await run('queues', 'set', 'reports', '--max-workers', 'none', ...who)
    await run('queues', 'resume', 'reports', ...who)
    expect((await run('queues', 'list')).stdout).toMatch(/reports +0 .*any +40m/)
    const lines = (await audit()) as { filter: string }[]
    expect(lines.map(({ filter }) => filter)).toEqual([
      'queue=reports paused=true',
      'queue=reports maxWorkers=3 zombieTimeoutMs=2400000',
      'queue=reports maxWorkers=null',
      'queue=reports paused=false',
    ])
  })
})

describe('wrong use', () => {
  const id = '01J0000000000000000000000A'
  it.each([
    ['jobs list --place cellar', /one of hot, archive, dlq/],
    ['jobs list --state done', /one of Pending/],
    ['jobs list --cursor x', /no cursor of this list/],
    ['jobs show 5', /Not a job id/],
    [`jobs cancel ${id}`, /--by must say who/],
    [`jobs priority ${id} 101 --by a --reason b`, /0 to 100/],
    [`jobs resurrect ${id} --payload {x --by a --reason b`, /JSON/],
    [`jobs cancel ${id} --by anna`, /--reason must say why/],
    ['queues pause reports', /--by must say who/],
    ['queues set reports --by a --reason b', /--max-workers or --zombie-timeout/],
    ['queues set reports --max-workers 0 --by a --reason b', /1 to 10000/],
    [
      'queues set reports --zombie-timeout 12s --by a --reason b',
      /above 12000ms, CHOKAQ_HEARTBEAT_MAX/,
    ],
    ['queues set reports --zombie-timeout 5 --by a --reason b', /such as 90s/],
  ])('%s: exit 2, one line that helps, nothing changed', async (line, message) => {
    const result = await run(...line.split(' '))
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(/^error: [^\n]+\n$/)
    expect(result.stderr).toMatch(message)
    expect(await audit()).toEqual([])
  })
})
