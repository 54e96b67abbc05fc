/** What is confirmed is what is done: of many deals no more, and none that nobody has seen. */

import { beforeEach, describe, expect, it } from 'vitest'
import { seedDeal } from '../support/deals.js'
import { useTestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { emptyTables, useDeck } from './deck-fixtures.js'
import { useSession, type OpenForm } from './deck-forms.js'

const database = useTestDatabase()
const path = '/provisions/all/requeue?state=poison'
const reason = 'a test'

describe('an action on all of a filter', () => {
  const deck = useDeck(database)
  const anna = useSession(deck)
  beforeEach(async () => {
    await emptyTables(database())
    await database().query(`insert into chokaq.queues (name, paused) values ('operations', true)`)
    for (let n = 0; n < 2; n += 1) await poison()
  })

  const poison = () => seedDeal(database().admin, { attempts: 10 })
  const jobs = () => database().query('select id from chokaq.jobs_hot')
  async function send(form: OpenForm, typed: string) {
    const response = await anna.post(form.url, { ...form.fields, reason, typed })
    return { status: response.status, text: await response.text() }
  }

  it('by another number than its own is not done', async () => {
    const form = await anna.openForm(path)
    for (const typed of ['', '3', '2.0', '02', 'all']) {
      const { status, text } = await send(form, typed)
      expect([typed, status]).toEqual([typed, 400])
      expect(text).toContain('Type 2 to confirm. Nothing was done.')
    }
    expect(await jobs()).toEqual([])
    expect((await send(form, ' 2 ')).status).toBe(303)
    expect(await jobs()).toHaveLength(1)
  })

  it('whose number has changed since says so, and is confirmed anew', async () => {
    const form = await anna.openForm(path)
    await poison()
    const { status, text } = await send(form, '2')
    expect(status).toBe(400)
    expect(text).toContain('It was 2 when you looked, and is 3 by now. Type 3 to confirm.')
    expect(await jobs()).toEqual([])
    const seen = /name="seen" value="(\d+)"/.exec(text)?.[1]
    expect(
      (await send({ ...form, fields: { ...form.fields, seen: seen ?? '' } }, '3')).status,
    ).toBe(303)
  })

  it('that means none by now makes no job', async () => {
    const form = await anna.openForm(path)
    await database().query(`update messenger.deal_chat_provisions set attempts = 0`)
    for (const typed of ['2', '0']) {
      const { status, text } = await send(form, typed)
      expect([typed, status]).toEqual([typed, 409])
      expect(text).toContain('There is nothing left to do. Nothing was done.')
      expect(text).toContain(`>${reason}</textarea>`)
    }
    expect(await jobs()).toEqual([])
  })

  it.each(['requeue', 'reconcile'])(
    'is done to no more than were confirmed, though more are meant by then: %s',
    async (action) => {
      const form = await anna.openForm(path.replace('requeue', action))
      expect((await send(form, '2')).status).toBe(303)
      await poison()
      await database().query('update chokaq.queues set paused = false')
      const job = await waitFor('the job to end', async () => {
        const [ended] = await database().query<{ checkpoint: Record<string, unknown> }>(
          'select checkpoint from chokaq.jobs_archive',
        )
        return ended ?? false
      })
      expect(job.checkpoint).toMatchObject({ affected: 2, leftOut: 1 })
      const changed = await database().query(
        'select distinct deal_id from messenger.chat_provision_audit where deal_id is not null',
      )
      expect(changed).toHaveLength(2)
    },
  )

  it('that does only a part at once never goes on to the next ones unasked', async () => {
    await database().query(`
      insert into messenger.outbox_events
        (id, aggregate_type, aggregate_id, type, contract_version, topic, payload, parked_at, last_error)
      select gen_random_uuid(), 'DealChatProvision', gen_random_uuid(), 'DealChatStatusChanged', 1, 't',
        '{}', now(), 'a test'
      from generate_series(1, 503)`)
    const skipped = async () =>
      (await database().query('select from messenger.outbox_events where skipped_at is not null'))
        .length
    const form = await anna.openForm('/outbox/all/skip?state=parked')
    // As after a form whose carrying out was broken off behind its second row.
    await database().query(`
      update messenger.outbox_events set skipped_at = now(), parked_at = null
      where seq in (select seq from messenger.outbox_events order by seq limit 2)`)
    const late = await send(form, '500')
    expect(late.status).toBe(400)
    expect(late.text).toContain('It was 500 of 503 when you looked, and is 500 of 501 by now.')
    expect(await skipped()).toBe(2)
    const seen = /name="seen" value="([^"]+)"/.exec(late.text)?.[1] ?? ''
    const anew = await send({ ...form, fields: { ...form.fields, seen } }, '500')
    expect(anew.status).toBe(303)
    expect(await skipped()).toBe(502)
  })
})
