/** "What happens on failure", row by row, with phase 5, Resurrection. */

import { expect, test } from 'vitest'
import { describeStorages, fetchOne, look, put, putRunning, single } from './storages.js'

const rescue = { fetchedTimeoutMs: 600_000, zombieTimeoutMs: 600_000, limit: 100 }

describeStorages('What happens on failure', (get) => {
  test('Handler succeeds: moved from the hot table to the archive', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.succeed([{ lease, durationMs: 5 }])
    expect((await look(storage, lease.jobId)).place).toBe('archive')
    expect((await storage.listJobs({ place: 'hot', limit: 10 })).items).toEqual([])
  })

  test('Transient dependency failure: rescheduled in the hot table', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.retry([{ lease, delayMs: 1_000, error: 'away' }])
    expect(await look(storage, lease.jobId)).toMatchObject({ place: 'hot', state: 'Pending' })
  })

  test('Fatal payload or code error: to the dead letters with its details', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.deadLetter([{ lease, reason: 'InvalidPayload', details: '/n must be a number' }])
    expect(await look(storage, lease.jobId)).toMatchObject({
      place: 'dlq',
      details: '/n must be a number',
    })
  })

  test('Worker crashes before user code starts: stale Fetched goes back to Pending', async () => {
    const { storage, advance } = get()
    const id = await put(storage)
    await fetchOne(storage, 'crashed')
    await advance(599_000)
    expect(await storage.rescue(rescue)).toEqual({ givenBack: [], zombies: [], refused: [] })
    await advance(2_000)
    expect(await storage.rescue(rescue)).toEqual({
      givenBack: [{ id, type: 'test.noop.v1', queue: 'q', owner: 'crashed' }],
      zombies: [],
      refused: [],
    })
    expect(await look(storage, id)).toMatchObject({ state: 'Pending', attempts: 0 })
    expect((await fetchOne(storage, 'other')).lease.jobId).toBe(id)
  })

  test('Worker crashes during handler execution: heartbeat expires, Zombie', async () => {
    const { storage, advance } = get()
    const { jobId: id } = await putRunning(storage, {}, 'crashed')
    await advance(599_000)
    expect((await storage.rescue(rescue)).zombies).toEqual([])
    await advance(2_000)
    expect((await storage.rescue(rescue)).zombies).toEqual([
      { id, type: 'test.noop.v1', queue: 'q', owner: 'crashed' },
    ])
    expect(await look(storage, id)).toMatchObject({
      place: 'dlq',
      state: 'Zombie',
      reason: 'Zombie',
      owner: 'crashed',
      attempts: 1,
      details: expect.stringContaining('The worker crashed has sent no heartbeat') as string,
    })
    expect(await storage.totals()).toEqual([{ queue: 'q', succeeded: 0, failed: 1, retried: 0 }])
  })

  test('a heartbeat in time saves from both', async () => {
    const { storage, advance } = get()
    const lease = await putRunning(storage)
    for (let n = 0; n < 3; n += 1) {
      await advance(400_000)
      await storage.heartbeat([{ lease }])
    }
    expect(await storage.rescue(rescue)).toEqual({ givenBack: [], zombies: [], refused: [] })
  })

  test('each queue may have its own zombie timeout', async () => {
    const { storage, advance } = get()
    await storage.changeQueue('sms', { zombieTimeoutMs: 30_000 }, { by: 'ops' })
    await storage.changeQueue('reports', { zombieTimeoutMs: 2_400_000 }, { by: 'ops' })
    const sms = await putRunning(storage, { queue: 'sms' })
    const report = await putRunning(storage, { queue: 'reports' })
    const mail = await putRunning(storage, { queue: 'emails' })
    const zombies = async () => (await storage.rescue(rescue)).zombies.map(({ id }) => id)
    await advance(31_000)
    expect(await zombies()).toEqual([sms.jobId])
    await advance(600_000)
    expect(await zombies()).toEqual([mail.jobId])
    await advance(1_800_000)
    expect(await zombies()).toEqual([report.jobId])
  })

  test('a pass takes no more than its limit of each kind, the oldest first', async () => {
    const { storage, advance } = get()
    const running = []
    for (let n = 0; n < 3; n += 1) running.push((await putRunning(storage)).jobId)
    const fetched = [await put(storage), await put(storage), await put(storage)]
    await storage.fetch({ owner: 'w', limit: 3 })
    await advance(700_000)
    const found = await storage.rescue({ ...rescue, limit: 2 })
    expect(found.zombies.map(({ id }) => id).sort()).toEqual(running.slice(0, 2))
    expect(found.givenBack.map(({ id }) => id).sort()).toEqual(fetched.slice(0, 2))
    const rest = await storage.rescue({ ...rescue, limit: 2 })
    expect([rest.zombies.length, rest.givenBack.length]).toEqual([1, 1])
  })
})

describeStorages('Operator fixes a DLQ payload: Phase 5, Resurrection', (get) => {
  test('back to the hot table, Pending, attempts 0, edited, and by whom', async () => {
    const { storage, advance } = get()
    const given = { payload: '{"bad":1}', tags: ['a'], createdBy: 'me', idempotencyKey: 'k' }
    const lease = await putRunning(storage, given)
    await storage.saveCheckpoint(lease, '3')
    await storage.deadLetter([{ lease, reason: 'InvalidPayload', details: 'bad' }])
    const { createdAtMs } = await look(storage, lease.jobId)
    await advance(3_600_000)
    const edits = { payload: '{"good":1}', tags: ['retried', 'manual'], priority: 30 }
    expect(await storage.resurrect([lease.jobId], { by: 'admin@company.com', edits })).toEqual([
      { outcome: 'resurrected' },
    ])
    const job = await look(storage, lease.jobId)
    expect(job).toMatchObject({
      ...edits,
      place: 'hot',
      state: 'Pending',
      attempts: 0,
      modifiedBy: 'admin@company.com',
      createdBy: 'me',
      idempotencyKey: 'k',
      owner: undefined,
      checkpoint: '3',
      startedAtMs: undefined,
      lastError: undefined,
    })
    expect((await storage.now()) - job.createdAtMs).toBeGreaterThanOrEqual(3_600_000)
    expect(createdAtMs).toBeGreaterThanOrEqual(job.createdAtMs)
    // Its age begins anew, or an old job could never be brought back.
    expect((await fetchOne(storage)).ageMs).toBeLessThan(60_000)
  })

  test.each(['Failed', 'Cancelled', 'Zombie'])(
    'a %s one, unchanged where nothing is edited',
    async (state) => {
      const { storage } = get()
      const lease = await putRunning(storage, { priority: 77, tags: ['t'] })
      if (state === 'Zombie') await storage.rescue({ ...rescue, zombieTimeoutMs: -1 })
      else {
        const reason = state === 'Failed' ? 'FatalError' : 'Cancelled'
        await storage.deadLetter([{ lease, reason, details: 'x' }])
      }
      expect((await look(storage, lease.jobId)).state).toBe(state)
      await storage.resurrect([lease.jobId], { by: 'ops' })
      expect(await look(storage, lease.jobId)).toMatchObject({
        state: 'Pending',
        payload: '{"n":1}',
        priority: 77,
        tags: ['t'],
      })
    },
  )

  test('nothing else can be: a live one, one in the archive, none at all', async () => {
    const { storage } = get()
    const done = await putRunning(storage)
    await storage.succeed([{ lease: done, durationMs: 1 }])
    const ids = [await put(storage), done.jobId, 'nothing', 'a\0b']
    const answers = await storage.resurrect(ids, { by: 'ops' })
    expect(answers).toEqual(ids.map(() => ({ outcome: 'not-dead' })))
    expect((await look(storage, done.jobId)).state).toBe('Succeeded')
  })

  test('not while a live job has its key, and it is lost to nobody', async () => {
    const { storage } = get()
    const lease = await putRunning(storage, { idempotencyKey: 'k' })
    await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
    const live = await put(storage, { idempotencyKey: 'k' })
    expect(await storage.resurrect([lease.jobId], { by: 'ops' })).toEqual([
      { outcome: 'key-taken', by: live },
    ])
    expect((await look(storage, lease.jobId)).state).toBe('Failed')
  })

  test('twice at once brings one job back', async () => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
    const answers = await Promise.all(
      [1, 2, 3].map(() => storage.resurrect([lease.jobId], { by: 'ops' })),
    )
    expect(answers.map((answer) => single(answer).outcome).sort()).toEqual([
      'not-dead',
      'not-dead',
      'resurrected',
    ])
  })

  test.each([
    [{ payload: '{' }, 'PAYLOAD_NOT_JSON'],
    [{ payload: `"${'x'.repeat(300_000)}"` }, 'PAYLOAD_TOO_LARGE'],
    [{ priority: 101 }, 'PRIORITY_OUT_OF_RANGE'],
    [{ tags: [''] }, 'TAGS_INVALID'],
  ])('refuses the edit %o before anything is changed', async (edits, code) => {
    const { storage } = get()
    const lease = await putRunning(storage)
    await storage.deadLetter([{ lease, reason: 'FatalError', details: 'x' }])
    const refused = storage.resurrect([lease.jobId], { by: 'ops', edits })
    await expect(refused).rejects.toMatchObject({ code })
    expect((await look(storage, lease.jobId)).state).toBe('Failed')
  })
})
