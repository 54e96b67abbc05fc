/** Phase 1, Enqueue: what is stored, what is refused, and one live job per idempotency key. */

import { describe, expect, test } from 'vitest'
import { limits } from '../../../../src/chokaq/jobs/limits.js'
import { waitFor } from '../../../support/wait-for.js'
import {
  describeStorages,
  fetchOne,
  idsIn,
  look,
  newJob,
  put,
  putRunning,
  single,
  usePostgresStorage,
} from './storages.js'

describeStorages('Phase 1, Enqueue', (get) => {
  test('gives a ULID that sorts by its making, and stores the job as Pending', async () => {
    const { storage } = get()
    const ids = [await put(storage), await put(storage), await put(storage)]
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect([...ids].sort()).toEqual(ids)
    expect(await look(storage, ids[0] ?? '')).toMatchObject({
      place: 'hot',
      state: 'Pending',
      priority: 10,
      attempts: 0,
      tags: [],
      owner: undefined,
      createdBy: undefined,
      idempotencyKey: undefined,
    })
  })

  test('keeps everything as it was given, the payload byte for byte', async () => {
    const { storage } = get()
    const given = {
      type: 'report.excel.create.v1',
      queue: 'reports',
      payload: '{ "b": 1.50,\n "a": "é ☃ 𝄞 \\u0000 \\ud800" }',
      priority: 100,
      idempotencyKey: 'report-7 "quoted" \\ {x}',
      tags: ['a,b', 'NULL', '{"c"}', ' é'],
      createdBy: 'ops@example.com',
    }
    const id = await put(storage, given)
    expect(await look(storage, id)).toMatchObject(given)
    const { lease, ...fetched } = await fetchOne(storage)
    expect(lease).toMatchObject({ jobId: id, owner: 'worker-1' })
    expect(fetched).toMatchObject({ ...given, attempts: 0, checkpoint: undefined })
  })

  test('with a delay it is Pending, and not fetched before its time', async () => {
    const { storage, advance } = get()
    const id = await put(storage, { delayMs: 300_000 })
    const job = await look(storage, id)
    expect(job.place === 'hot' && job.dueAtMs - job.createdAtMs).toBe(300_000)
    await advance(290_000)
    expect(await storage.fetch({ owner: 'w', limit: 10 })).toEqual([])
    await advance(10_000)
    expect((await fetchOne(storage)).lease.jobId).toBe(id)
  })

  test('in bulk it answers in the order given, and stores all', async () => {
    const { storage } = get()
    const jobs = Array.from({ length: 2_500 }, (_, n) => newJob({ payload: `${n}` }))
    const answers = await storage.enqueue(jobs)
    expect(answers.every(({ created }) => created)).toBe(true)
    const last = answers.at(-1)?.id ?? ''
    expect((await look(storage, last)).payload).toBe('2499')
    expect(new Set(answers.map(({ id }) => id)).size).toBe(2_500)
    expect(single(await storage.listQueues()).due).toBe(2_500)
    expect(await storage.enqueue([])).toEqual([])
  })

  test('Idempotency Guard: a key that a live job has gives its id, and nothing is stored', async () => {
    const { storage } = get()
    const [first] = await storage.enqueue([newJob({ idempotencyKey: 'k' })])
    expect(first?.created).toBe(true)
    const again = await storage.enqueue([
      newJob({ idempotencyKey: 'other' }),
      newJob({ idempotencyKey: 'k', payload: '2' }),
      newJob(),
      newJob({ idempotencyKey: 'other' }),
    ])
    expect(again.map(({ created }) => created)).toEqual([true, false, true, false])
    expect(again[1]?.id).toBe(first?.id)
    expect(again[3]?.id).toBe(again[0]?.id)
    expect(await idsIn(storage, 'hot')).toHaveLength(3)
    expect((await look(storage, first?.id ?? '')).payload).toBe('{"n":1}')
  })

  test.each(['Pending', 'Fetched', 'Processing'])('the key of a %s job is taken', async (state) => {
    const { storage } = get()
    const id = await put(storage, { idempotencyKey: 'k' })
    if (state !== 'Pending') {
      const { lease } = await fetchOne(storage)
      if (state === 'Processing') await storage.start([lease])
    }
    expect((await look(storage, id)).state).toBe(state)
    expect(await storage.enqueue([newJob({ idempotencyKey: 'k' })])).toEqual([
      { id, created: false },
    ])
  })

  test('once the job has gone to the archive or the dead letters, its key is free', async () => {
    const { storage } = get()
    const done = await putRunning(storage, { idempotencyKey: 'k' })
    await storage.succeed([{ lease: done, durationMs: 1 }])
    const failed = await putRunning(storage, { idempotencyKey: 'k' })
    await storage.deadLetter([{ lease: failed, reason: 'FatalError', details: 'x' }])
    const third = single(await storage.enqueue([newJob({ idempotencyKey: 'k' })]))
    expect(third.created).toBe(true)
    expect(await storage.findSucceeded('test.noop.v1', 'k')).toEqual({ id: done.jobId })
    expect(await storage.findSucceeded('test.other.v1', 'k')).toBeUndefined()
    expect(await storage.findSucceeded('test.noop.v1', 'l')).toBeUndefined()
  })

  test('twenty at once with one key make one job', async () => {
    const { storage } = get()
    const all = await Promise.all(
      Array.from({ length: 20 }, () => storage.enqueue([newJob({ idempotencyKey: 'race' })])),
    )
    const answers = all.flat()
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await idsIn(storage, 'hot')).toEqual([answers[0]?.id])
  })

  test('bulks at once with the same keys in different orders store each once', async () => {
    const { storage } = get()
    const keys = Array.from({ length: 50 }, (_, n) => `key-${n}`)
    const bulks = Array.from({ length: 8 }, (_, turn) =>
      (turn % 2 === 0 ? keys : [...keys].reverse()).map((key) => newJob({ idempotencyKey: key })),
    )
    const all = await Promise.all(bulks.map((jobs) => storage.enqueue(jobs)))
    expect(all.flat().filter(({ created }) => created)).toHaveLength(50)
    expect(await idsIn(storage, 'hot')).toHaveLength(50)
  })

  const tooLong = 'x'.repeat(256)
  test.each([
    ['a payload that is no JSON', { payload: '{' }, 'PAYLOAD_NOT_JSON'],
    ['an empty payload', { payload: '' }, 'PAYLOAD_NOT_JSON'],
    ['half a surrogate pair', { payload: '"\ud800"' }, 'PAYLOAD_NOT_JSON'],
    ['a nest too deep', { payload: '['.repeat(9e4) + ']'.repeat(9e4) }, 'PAYLOAD_NOT_JSON'],
    ['a payload too large', { payload: `"${'é'.repeat(140_000)}"` }, 'PAYLOAD_TOO_LARGE'],
    ['a priority below 0', { priority: -1 }, 'PRIORITY_OUT_OF_RANGE'],
    ['a priority above 100', { priority: 101 }, 'PRIORITY_OUT_OF_RANGE'],
    ['half a priority', { priority: 1.5 }, 'PRIORITY_OUT_OF_RANGE'],
    ['a negative delay', { delayMs: -1 }, 'DELAY_INVALID'],
    ['no delay at all', { delayMs: NaN }, 'DELAY_INVALID'],
    ['a delay without end', { delayMs: Infinity }, 'DELAY_INVALID'],
    ['an empty type', { type: '' }, 'TYPE_INVALID'],
    ['a type too long', { type: tooLong }, 'TYPE_INVALID'],
    ['a queue with a space', { queue: 'a b' }, 'QUEUE_INVALID'],
    ['an empty key', { idempotencyKey: '' }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a key too long', { idempotencyKey: tooLong }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a key with U+0000', { idempotencyKey: 'a\0' }, 'IDEMPOTENCY_KEY_INVALID'],
    ['a tag too long', { tags: [tooLong] }, 'TAGS_INVALID'],
    ['too many tags', { tags: Array.from({ length: 17 }, () => 'a') }, 'TAGS_INVALID'],
    ['a nameless creator', { createdBy: '' }, 'ACTOR_INVALID'],
  ])('refuses %s, and stores none of the call', async (_what, broken, code) => {
    const { storage } = get()
    await expect(storage.enqueue([newJob(), newJob(broken)])).rejects.toMatchObject({
      name: 'ChokaqError',
      code,
    })
    expect(await idsIn(storage, 'hot')).toEqual([])
  })

  test('takes what is just within the limits', async () => {
    const { storage } = get()
    const longest = {
      type: 't'.repeat(limits.typeLength),
      queue: 'q'.repeat(limits.queueLength),
      payload: `"${'x'.repeat(limits.payloadBytes - 2)}"`,
      idempotencyKey: '𝄞'.repeat(127),
      tags: Array.from({ length: limits.tags }, () => 'y'.repeat(limits.tagLength)),
      createdBy: 'z'.repeat(limits.actorLength),
      delayMs: limits.delayMs,
      priority: 0,
    }
    expect(await look(storage, await put(storage, longest))).toMatchObject({
      payload: longest.payload,
    })
    const nested = '['.repeat(limits.payloadDepth) + ']'.repeat(limits.payloadDepth)
    expect(await look(storage, await put(storage, { payload: nested }))).toMatchObject({
      payload: nested,
    })
  })
})

describe('in the transaction of the caller', () => {
  const postgres = usePostgresStorage()

  test('jobs exist when and only when it commits', async () => {
    const { db, storage } = postgres()
    const enqueued = await db.transaction().execute(async (trx) => {
      const answer = await storage.enqueue([newJob(), newJob({ idempotencyKey: 'k' })], trx)
      expect(await storage.fetch({ owner: 'w', limit: 10 })).toEqual([])
      return answer
    })
    expect(await idsIn(storage, 'hot')).toEqual(enqueued.map(({ id }) => id).sort())
    const failing = db.transaction().execute(async (trx) => {
      await storage.enqueue([newJob()], trx)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await idsIn(storage, 'hot')).toHaveLength(2)
  })

  test.each(['commits', 'rolls back'])(
    'another who wants the same key waits, and is right whether it %s',
    async (end) => {
      const { db, storage, database } = postgres()
      const trx = await db.startTransaction().execute()
      const first = single(await storage.enqueue([newJob({ idempotencyKey: 'k' })], trx))
      const second = storage.enqueue([newJob({ idempotencyKey: 'k' })])
      await waitFor('the second to wait for the first', async () => {
        const waiting = await database.query(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return waiting.length === 1
      })
      if (end === 'commits') await trx.commit().execute()
      else await trx.rollback().execute()
      const { id, created } = single(await second)
      expect(created).toBe(end === 'rolls back')
      expect(id === first.id).toBe(end === 'commits')
      expect(await idsIn(storage, 'hot')).toEqual([id])
    },
  )
})
