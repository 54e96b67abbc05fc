/** What the database itself refuses, whoever writes it, and what a caller's transaction fences. */

import { describe, expect, test } from 'vitest'
import { failureReasons } from '../../../../src/chokaq/kernel/failure.js'
import { isLegalMove, stateCodes, type HotState } from '../../../../src/chokaq/kernel/job-state.js'
import { limits } from '../../../../src/chokaq/jobs/limits.js'
import { look, put, putRunning, usePostgresStorage } from './storages.js'

describe('The tables', () => {
  const postgres = usePostgresStorage()

  test.each([
    ['a Pending one with an owner', `owner = 'w'`],
    ['a Pending one with a heartbeat', `heartbeat_at = now()`],
    ['a Fetched one without an owner', `state = 1, heartbeat_at = now(), token = 1`],
    ['a Fetched one without a heartbeat', `state = 1, owner = 'w', token = 1`],
    ['a Fetched one without a token', `state = 1, owner = 'w', heartbeat_at = now()`],
    [
      'a Processing one that never started',
      `state = 2, owner = 'w', heartbeat_at = now(), token = 1, attempts = 1`,
    ],
    [
      'a Processing one without an attempt',
      `state = 2, owner = 'w', heartbeat_at = now(), token = 1, started_at = now()`,
    ],
    ['one that succeeded and is still there', `state = 3`],
    ['one that is dead and still there', `state = 4`],
    ['less than no attempt', `attempts = -1`],
    ['a priority out of range', `priority = 101`],
    ['a wish to cancel what has not begun', `cancel_requested_by = 'ops', cancel_reason = 'x'`],
    ['an id that is none', `id = 'x'`],
    ['one that is due before all time', `scheduled_at = '-infinity'`],
    ['one that is never due', `scheduled_at = 'infinity'`],
    ['one as old as time', `enqueued_at = '-infinity'`],
    ['one from the far future', `created_at = '10000-01-01Z'`],
    ['one from before computers', `enqueued_at = '1969-12-31 23:59:59Z'`],
    [
      'a silent one whose heartbeat is still to come',
      `state = 1, owner = 'w', token = 1, heartbeat_at = 'infinity'`,
    ],
    ['one that started before all time', `started_at = '-infinity'`],
  ])('hold no live job that is %s', async (_what, change) => {
    const { storage, database } = postgres()
    await put(storage)
    await expect(database.query(`update chokaq.jobs_hot set ${change}`)).rejects.toMatchObject({
      code: '23514',
    })
  })

  test('refuse every move of a live job that the kernel does not know', async () => {
    const { storage, database } = postgres()
    const whole = `owner = 'w', token = 1, heartbeat_at = now(), started_at = now(), attempts = 1`
    const live = ['Pending', 'Fetched', 'Processing'] as const
    const fields = {
      Pending: 'owner = null, heartbeat_at = null',
      Fetched: whole,
      Processing: whole,
    }
    const ways = {
      Pending: [],
      Fetched: ['Fetched'],
      Processing: ['Fetched', 'Processing'],
    } as const
    const refused: string[] = []
    for (const from of live) {
      for (const to of live) {
        const id = await put(storage)
        const move = (state: HotState) =>
          database.query(`update chokaq.jobs_hot set state = ${stateCodes[state]}, ${fields[state]}
            where id = '${id}'`)
        for (const step of ways[from]) await move(step)
        await move(to).catch((error: unknown) => {
          expect(error).toMatchObject({ code: '23514', constraint: 'tr_jobs_hot_move' })
          refused.push(`${from} ${to}`)
        })
      }
    }
    const unknown = live.flatMap((from) =>
      live.filter((to) => from !== to && !isLegalMove(from, to)).map((to) => `${from} ${to}`),
    )
    expect(refused).toEqual(unknown)
  })

  test('hold no dead letter whose state and reason differ', async () => {
    const { storage, database } = postgres()
    const lease = await putRunning(storage)
    await storage.deadLetter([{ lease, reason: 'Timeout', details: 'x' }])
    for (const change of ['state = 5', 'state = 3', `reason = 'Zombie'`, `reason = 'Bored'`]) {
      await expect(database.query(`update chokaq.jobs_dlq set ${change}`)).rejects.toMatchObject({
        code: '23514',
      })
    }
  })

  test.each([
    `created_at = '-infinity'`,
    `started_at = 'infinity'`,
    `finished_at = 'infinity'`,
    `finished_at = '10000-01-01Z'`,
    `duration_ms = 'NaN'`,
    `duration_ms = 'infinity'`,
    `duration_ms = -1`,
  ])('hold no ended job with %s', async (change) => {
    const { storage, database } = postgres()
    for (const end of ['succeed', 'deadLetter'] as const) {
      const lease = await putRunning(storage)
      const death = { reason: 'Timeout', details: 'x', durationMs: 1 } as const
      await storage[end]([{ lease, ...death }])
      const table = end === 'succeed' ? 'jobs_archive' : 'jobs_dlq'
      const odd = database.query(`update chokaq.${table} set ${change}`)
      await expect(odd).rejects.toMatchObject({ code: '23514' })
    }
  })

  test('hold the longest delay and the longest run that a job may have', async () => {
    const { storage } = postgres()
    await put(storage, { delayMs: limits.delayMs })
    const lease = await putRunning(storage)
    const end = [{ lease, durationMs: Infinity }]
    expect(await storage.succeed(end)).toEqual([{ outcome: 'moved' }])
  })

  test('know every reason that the kernel knows, and no other', async () => {
    const { database } = postgres()
    const [constraint] = await database.query<{ text: string }>(
      `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'ck_jobs_dlq_reason'`,
    )
    const named = [...(constraint?.text ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => name)
    expect(named.sort()).toEqual([...failureReasons].sort())
  })

  test('hold one live job per idempotency key', async () => {
    const { storage, database } = postgres()
    await put(storage, { idempotencyKey: 'k' })
    await put(storage, { idempotencyKey: 'l' })
    const twin = database.query(`update chokaq.jobs_hot set idempotency_key = 'k'`)
    await expect(twin).rejects.toMatchObject({ code: '23505' })
  })
})

describe('A checkpoint in the transaction of the caller', () => {
  const postgres = usePostgresStorage()

  test('is stored when and only when that commits', async () => {
    const { storage, db } = postgres()
    const lease = await putRunning(storage)
    const rolledBack = await db.startTransaction().execute()
    expect(await storage.saveCheckpoint(lease, '1', rolledBack)).toBe(true)
    await rolledBack.rollback().execute()
    expect((await look(storage, lease.jobId)).checkpoint).toBeUndefined()
    const committed = await db.startTransaction().execute()
    expect(await storage.saveCheckpoint(lease, '2', committed)).toBe(true)
    await committed.commit().execute()
    expect((await look(storage, lease.jobId)).checkpoint).toBe('2')
  })

  test('keeps the job from being taken away meanwhile, and is refused to who has lost it', async () => {
    const { storage, db } = postgres()
    const lease = await putRunning(storage)
    const rescue = { fetchedTimeoutMs: 0, zombieTimeoutMs: -1, limit: 10 }
    const trx = await db.startTransaction().execute()
    expect(await storage.saveCheckpoint(lease, '1', trx)).toBe(true)
    expect((await storage.rescue(rescue)).zombies).toEqual([])
    await trx.commit().execute()
    expect((await storage.rescue(rescue)).zombies).toHaveLength(1)
    const late = await db.startTransaction().execute()
    expect(await storage.saveCheckpoint(lease, '2', late)).toBe(false)
    await late.rollback().execute()
  })
})
