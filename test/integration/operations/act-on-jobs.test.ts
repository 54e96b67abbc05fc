/** A job's or a queue's change and its line in the audit: both or neither, and once for one request. */

import { beforeEach, describe, expect, it } from 'vitest'
import {
  cancelJob,
  changeQueue,
  prioritizeJob,
  resurrectJob,
  type JobsContext,
} from '../../../src/operations/act-on-jobs.js'
import { Rival, untilBlocked } from '../../support/rival.js'
import { useTestDatabase } from '../../support/test-database.js'
import { emptyTables } from '../http-api-fixtures.js'
import { anna, auditLines, useOperators } from './operator-fixtures.js'
import { movesOn } from './undo-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
beforeEach(() => emptyTables(database()))

const id = '01J9Z3K4M5N6P7Q8R9S0T1V2W3'
const order = { ...anna, requestId: 'a request' }

function newContext(name?: string): JobsContext {
  const { db } = newOperator(name)
  return { db, moves: movesOn(db) }
}

const putLive = () =>
  database().query(
    `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
     values ($1, 'operations', 'a.v1', '{}', 10)`,
    [id],
  )
const putDead = () =>
  database().query(
    `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
       created_at, reason, details)
     values ($1, 'operations', 'a.v1', '{}', 10, 4, 3, '{}', now(), 'FatalError', '')`,
    [id],
  )
const takeAway = () => database().query('truncate chokaq.jobs_hot, chokaq.jobs_dlq')

/** Where the job is, its priority, and whether the queue is paused. */
const look = () =>
  database().query(
    `select 'hot' as place, priority::int as priority from chokaq.jobs_hot
     union all select 'dlq', priority::int from chokaq.jobs_dlq
     union all select 'paused ' || paused, max_workers from chokaq.queues order by 1`,
  )

const changes = [
  { name: 'cancel', put: putLive, act: (jobs: JobsContext) => cancelJob(jobs, id, order) },
  {
    name: 'resurrect',
    put: putDead,
    act: (jobs: JobsContext) => resurrectJob(jobs, id, order, {}),
  },
  {
    name: 'priority',
    put: putLive,
    act: (jobs: JobsContext) => prioritizeJob(jobs, id, order, 90),
  },
  {
    name: 'queue',
    put: putLive,
    act: (jobs: JobsContext) => changeQueue(jobs, 'operations', { paused: true }, order),
  },
]

describe.each(changes)('$name', ({ name, put, act }) => {
  it('whose session ends between the change and its line has done nothing', async () => {
    await put()
    const before = await look()
    const rival = await Rival.begin(database().adminUrl)
    await rival.query('lock table messenger.chat_provision_audit in exclusive mode')
    const session = `${name} breaks off`
    const broken = expect(act(newContext(session))).rejects.toThrow()
    await untilBlocked(database(), session)
    await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [session],
    )
    await broken
    await rival.rollback()
    expect([await look(), await auditLines(database())]).toEqual([before, []])
    await act(newContext())
    expect(await look()).not.toEqual(before)
    expect(await auditLines(database())).toHaveLength(1)
  })

  it('of a request that has done it before is not done again', async () => {
    await put()
    const first = await act(newContext())
    // As if it had come there again since.
    await takeAway()
    await put()
    await database().query('update chokaq.queues set paused = false, max_workers = 7')
    const since = await look()
    const again = await act(newContext())
    expect(await look()).toEqual(since)
    expect(again).toEqual(
      name === 'cancel' ? { done: true, note: 'cancelled, or asked to end' } : first,
    )
    expect(await auditLines(database())).toHaveLength(1)
  })
})
