/** One item that the database refuses never spoils the others of its pass or batch. */

import { describe, expect, test } from 'vitest'
import { idsIn, look, newJob, put, putRunning, usePostgresStorage } from './storages.js'

const rescue = { fetchedTimeoutMs: 600_000, zombieTimeoutMs: -1, limit: 100 }

describe('What the database refuses', () => {
  const postgres = usePostgresStorage()

  test('P8 of three zombies the middle one can’t be moved; the other two are rescued', async () => {
    const { storage, database } = postgres()
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) ids.push((await putRunning(storage)).jobId)
    const [first = '', middle = '', last = ''] = ids
    await database.query(`
      create function chokaq.refuse_one() returns trigger language plpgsql as $$
        begin
          if new.id = '${middle}' then raise exception 'not this one'; end if;
          return new;
        end $$;
      create trigger refuse_one before insert on chokaq.jobs_dlq
        for each row execute function chokaq.refuse_one()`)
    try {
      const found = await storage.rescue(rescue)
      expect(found.zombies.map(({ id }) => id)).toEqual([first, last])
      expect(found.refused).toMatchObject([{ id: middle, error: { message: 'not this one' } }])
      expect((await look(storage, middle)).state).toBe('Processing')
      expect(await storage.totals()).toMatchObject([{ failed: 2 }])
    } finally {
      await database.query('drop trigger refuse_one on chokaq.jobs_dlq')
    }
  })

  test('P8 in the transaction of a caller neither, which commits what else it did', async () => {
    const { storage, db, database } = postgres()
    const ids = (await storage.enqueue(Array.from({ length: 3 }, () => newJob()))).map(
      ({ id }) => id,
    )
    await database.query(
      `alter table chokaq.jobs_dlq add constraint ck_middle
       check (id <> '${ids[1] ?? ''}') not valid`,
    )
    try {
      const answers = await db.transaction().execute(async (trx) => {
        await storage.changeQueue('other', { paused: true }, { by: 'ops' }, trx)
        return storage.cancel(ids, { by: 'ops', reason: 'wrong' }, trx)
      })
      expect(answers.map(({ outcome }) => outcome)).toEqual(['cancelled', 'refused', 'cancelled'])
      expect(await storage.listQueues()).toMatchObject([
        { name: 'other', settings: { paused: true } },
        { name: 'q' },
      ])
      expect((await look(storage, ids[1] ?? '')).state).toBe('Pending')
    } finally {
      await database.query('alter table chokaq.jobs_dlq drop constraint ck_middle')
    }
  })

  test('P8 nor one that can’t be started spoil a fetch that starts: all are only fetched', async () => {
    const { storage, database } = postgres()
    for (let n = 0; n < 3; n += 1) await put(storage)
    const [first] = await idsIn(storage, 'hot')
    await database.query(
      `alter table chokaq.jobs_hot add constraint ck_middle
       check (state <> 2 or id <> '${first ?? ''}') not valid`,
    )
    try {
      const jobs = await storage.fetch({ owner: 'worker-1', limit: 10, start: true })
      expect(jobs.map(({ started, attempts }) => [started, attempts])).toEqual(
        Array.from({ length: 3 }, () => [undefined, 0]),
      )
      const answers = await storage.start(jobs.map(({ lease }) => lease))
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
        'refused',
        'started',
        'started',
      ])
    } finally {
      await database.query('alter table chokaq.jobs_hot drop constraint ck_middle')
    }
  })

  test('P8 nor can one outcome that is refused spoil its batch', async () => {
    const { storage, database } = postgres()
    const leases = []
    for (let n = 0; n < 3; n += 1) leases.push(await putRunning(storage))
    await database.query(
      `alter table chokaq.jobs_archive add constraint ck_middle
       check (id <> '${leases[1]?.jobId ?? ''}') not valid`,
    )
    try {
      const answers = await storage.succeed(leases.map((lease) => ({ lease, durationMs: 1 })))
      expect(answers.map(({ outcome }) => outcome)).toEqual(['moved', 'refused', 'moved'])
      expect(answers[1]).toMatchObject({ error: { code: '23514' } })
    } finally {
      await database.query('alter table chokaq.jobs_archive drop constraint ck_middle')
    }
  })
})
