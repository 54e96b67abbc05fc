/** All jobs of a filter: each portion of them moves together with its line in the audit, or not at all. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JobsContext } from '../../../src/operations/act-on-jobs.js'
import { actOnManyJobs } from '../../../src/operations/act-on-many-jobs.js'
import { Rival, untilBlocked } from '../../support/rival.js'
import { useTestDatabase } from '../../support/test-database.js'
import { emptyTables } from '../http-api-fixtures.js'
import { anna, auditLines, useOperators } from './operator-fixtures.js'
import { movesOn } from './undo-fixtures.js'

const database = useTestDatabase()
const newOperator = useOperators(database)
beforeEach(() => emptyTables(database()))

const filter = { queue: 'operations' }
const order = { ...anna, requestId: 'a request' }

function newContext(name?: string): JobsContext {
  const { db } = newOperator(name)
  return { db, moves: movesOn(db) }
}

/** Ids that follow each other, as ULIDs do. */
const idSql = `'01J9Z3K4M5N6P7Q8R9S0T1' || lpad(n::text, 4, '0')`
const putLive = (jobs: number) =>
  database().query(
    `insert into chokaq.jobs_hot (id, queue, type, payload, priority)
     select ${idSql}, 'operations', 'a.v1', '{}', 10 from generate_series(1, $1::int) n`,
    [jobs],
  )
const putDead = (jobs: number) =>
  database().query(
    `insert into chokaq.jobs_dlq (id, queue, type, payload, priority, state, attempts, tags,
       created_at, reason, details)
     select ${idSql}, 'operations', 'a.v1', '{}', 10, 4, 3, '{}', now(), 'FatalError', ''
     from generate_series(1, $1::int) n`,
    [jobs],
  )

const places = () =>
  database().query(
    `select 'hot' as place, count(*)::int as jobs from chokaq.jobs_hot
     union all select 'dlq', count(*)::int from chokaq.jobs_dlq`,
  )

const line = (action: string, where: string, affected: number) => ({
  ...{ actor: anna.by, reason: anna.reason, deal_id: null },
  ...{ action: `job-${action}`, filter: `place=${where} queue=operations`, affected },
})

describe.each([
  { action: 'cancel', where: 'hot', put: putLive },
  { action: 'resurrect', where: 'dlq', put: putDead },
] as const)('$action of many', ({ action, where, put }) => {
  it('whose session ends between the moves and their line has done nothing', async () => {
    await put(3)
    const before = await places()
    const rival = await Rival.begin(database().adminUrl)
    await rival.query('lock table messenger.chat_provision_audit in exclusive mode')
    const session = `${action} of many breaks off`
    const broken = expect(
      actOnManyJobs(newContext(session), action, filter, order),
    ).rejects.toThrow()
    await untilBlocked(database(), session)
    await database().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [session],
    )
    await broken
    await rival.rollback()
    expect([await places(), await auditLines(database())]).toEqual([before, []])
    expect(await actOnManyJobs(newContext(), action, filter, order)).toEqual({
      affected: 3,
      left: 0,
    })
    expect(await auditLines(database())).toEqual([line(action, where, 3)])
  })

  it('goes portion by portion, each on record with what it moved', async () => {
    await put(230)
    const announced: unknown[] = []
    const context = newContext()
    const announce = (move: unknown): Promise<void> => Promise.resolve(void announced.push(move))
    const moves = { ...context.moves, announce }
    expect(await actOnManyJobs({ ...context, moves }, action, filter, order)).toEqual({
      affected: 230,
      left: 0,
    })
    expect(await auditLines(database())).toEqual(
      [100, 100, 30].map((affected) => line(action, where, affected)),
    )
    expect(announced).toEqual(['jobs', 'jobs', 'jobs'])
  })

  it('goes on with the rest where the same request comes again', async () => {
    await put(150)
    const context = newContext()
    let portions = 0
    const applyBulk: typeof context.moves.applyBulk = (...args) => {
      portions += 1
      if (portions === 2) throw new Error('broken off')
      return context.moves.applyBulk(...args)
    }
    const breaking = { ...context, moves: { ...context.moves, applyBulk } }
    await expect(actOnManyJobs(breaking, action, filter, order)).rejects.toThrow('broken off')
    expect(await actOnManyJobs(context, action, filter, order)).toEqual({ affected: 50, left: 0 })
    expect(await auditLines(database())).toEqual(
      [100, 50].map((affected) => line(action, where, affected)),
    )
  })

  it('goes no further than the cap', async () => {
    await put(1_003)
    expect(await actOnManyJobs(newContext(), action, filter, order)).toEqual({
      affected: 1_000,
      left: 0,
    })
    expect(await auditLines(database())).toHaveLength(10)
  })

  it('writes no line where there is nothing', async () => {
    expect(await actOnManyJobs(newContext(), action, filter, order)).toEqual({
      affected: 0,
      left: 0,
    })
    expect(await auditLines(database())).toEqual([])
  })

  describe('of which the database refuses one', () => {
    const target = where === 'hot' ? 'chokaq.jobs_dlq' : 'chokaq.jobs_hot'
    afterEach(() => database().query(`alter table ${target} drop constraint ck_not_this_one`))

    it('moves the others of its portion, and says how many', async () => {
      await put(3)
      await database().query(
        `alter table ${target} add constraint ck_not_this_one check (id not like '%0002') not valid`,
      )
      expect(await actOnManyJobs(newContext(), action, filter, order)).toEqual({
        affected: 2,
        left: 1,
      })
      expect(await auditLines(database())).toEqual([line(action, where, 2)])
    })
  })
})
